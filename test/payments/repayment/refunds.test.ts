import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  capturedA,
  disputeA,
  PAID_AT,
  refundA,
  refundB,
  successB,
} from '../../support/payments/gateway-events.ts'
import { LENDER, ownIds, ownLoan, paymentService } from '../../support/payments/payments.ts'

const { samples } = JSON.parse(
  readFileSync(new URL('../gateways/gateway-a-samples.json', import.meta.url), 'utf8'),
)

/** All tests but those that list what there is share this service: each has payments, and refunds, of its own. */
const service = await paymentService(t)

t.test('a refund that was created and failed, as documented, releases its payment', async t => {
  const { loan } = await ownLoan(service, { principal: 90_000 })
  for (const name of ['refund.created', 'refund.failed']) {
    const { body } = structuredClone(samples.find((one: any) => one.event === name))
    Object.assign(body.payload.payment.entity, {
      notes: { external_loan_id: loan },
      created_at: PAID_AT,
    })
    await service.webhook('gateway_a', body, LENDER)
  }
  await service.batch()
  t.match((await service.payment('rfnd_FS8TWyPrCsa0OB')).payment, { state: 'failed' })
  t.match((await service.payment('pay_FPoJKWQQ8lK13n')).payment, { state: 'posted' })
})

t.test('a refund holds its payment, whatever in its notes cannot be stored', async t => {
  const { loan } = await ownLoan(service)
  const odd = ['RAMESH\\u0000\\u0000', 'RAM\xffESH', '\\ud83d']
  for (const [n, text] of odd.entries()) {
    const [a, b] = [
      { id: `rfnd_odd_${n}`, of: `pay_odd_${n}` },
      { id: 100 + n, of: n },
    ]
    const noted = (refund: object) =>
      Buffer.from(JSON.stringify(refund).replace(/"ARN1"|\[\]/, `"${text}"`), 'latin1')
    await service.webhook('gateway_a', noted(refundA(a)), LENDER)
    await service.webhook('gateway_a', capturedA({ id: a.of, loan }), LENDER)
    await service.webhook('gateway_b', successB({ id: b.of, loan }), LENDER)
    await service.webhook('gateway_b', noted(refundB(b)), LENDER)
  }
  await service.batch()
  for (const [n, text] of odd.entries()) {
    const held = { state: 'suspense', reason: 'refund' }
    t.match((await service.payment(`pay_odd_${n}`)).payment, held, text)
    t.match((await service.payment(n, 'gateway_b')).payment, held, text)
  }
  t.same(await service.repayments(loan), [])
})

t.test('a refund of a payment flagged as never captured is returned and posts nothing', async t => {
  const { id: of, loan } = await ownLoan(service)
  const id = `rfnd_${of}`
  const flagged = refundA({ id, of, payment: { loan, payment: { captured: false } } })
  await service.webhook('gateway_a', flagged, LENDER)
  await service.batch()
  t.match((await service.payment(id)).payment, { state: 'returned', reason: null })
  t.equal((await service.repayments(loan)).length, 0)
})

t.test('a failed refund ends as failed, even if its payment was never captured', async t => {
  const { id: of } = ownIds()
  const id = `rfnd_${of}`
  const payment = { status: 'authorized', payment: { captured: false } }
  for (const status of ['created', 'failed'])
    await service.webhook('gateway_a', refundA({ id, of, status, payment }), LENDER)
  await service.batch()
  t.match((await service.payment(id)).payment, { state: 'failed' })
})

t.test('a refund that gateway B made by itself counts as made, even if it also failed', async t => {
  const { loan } = await ownLoan(service)
  const orders = [
    ['SUCCESS', 'FAILED'],
    ['FAILED', 'SUCCESS'],
    ['CANCELLED', 'SUCCESS'],
  ]
  const report = async (of: number, statuses: string[]) => {
    for (const status of statuses) {
      const event = refundB({ id: `9${of}`, of, status, type: 'PAYMENT_AUTO_REFUND' })
      await service.webhook('gateway_b', event, LENDER)
    }
  }
  for (const [n, statuses] of orders.entries()) {
    for (const id of [700 + n, 800 + n])
      await service.webhook('gateway_b', successB({ id, loan }), LENDER)
    await report(700 + n, statuses)
  }
  await service.batch()
  for (const [n, statuses] of orders.entries()) await report(800 + n, statuses)
  await service.batch()
  const held = { state: 'suspense', reason: 'refund' }
  const objected = { state: 'posted', objection: 'refund' }
  for (const [n, statuses] of orders.entries())
    for (const [of, expected] of [
      [700 + n, held],
      [800 + n, objected],
    ] as const) {
      t.match((await service.payment(of, 'gateway_b')).payment, expected, `${statuses}`)
      t.match((await service.payment(`9${of}`, 'gateway_b')).payment, held, `${statuses}`)
    }
})

t.test('a refund that was ordered or failed, and never made, leaves its payment alone', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  const ordered: any = refundA({ id: 'rfnd_2', status: 'created' })
  ordered.payload.refund.entity.status = 'pending'
  await service.webhook('gateway_a', ordered, LENDER)
  await service.webhook('gateway_a', refundA({ status: 'failed' }), LENDER)
  await service.webhook('gateway_b', successB({ loan: 'L-1' }), LENDER)
  for (const [id, status] of [
    [1, 'PENDING'],
    [2, 'CANCELLED'],
  ] as const)
    await service.webhook('gateway_b', refundB({ id, status }), LENDER)
  await service.batch()
  const { body } = await service.call('GET', '/api/payments')
  t.same(
    body.payments.map((one: any) => `${one.kind} ${one.state}`),
    ['payment posted', 'payment posted'],
  )
})

t.test('a refund’s event `speed_changed` counts by the refund’s status', async t => {
  const { id: of } = ownIds()
  const id = `rfnd_${of}`
  const faster = { ...refundA({ id, of }), event: 'refund.speed_changed' }
  await service.webhook('gateway_a', faster, LENDER)
  await service.batch()
  t.match((await service.payment(id)).payment, { state: 'suspense', reason: 'refund' })
})

t.test('a refund or dispute naming its payment only in the payment’s part holds it', async t => {
  const { loan } = await ownLoan(service)
  const refund: any = refundA({ id: 'rfnd_r', of: 'pay_r', payment: { loan } })
  delete refund.payload.refund.entity.payment_id
  const dispute: any = disputeA('lost', { id: 'pay_d', loan })
  delete dispute.payload.dispute.entity.payment_id
  for (const event of [refund, dispute]) await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  t.match((await service.payment('pay_r')).payment, { state: 'suspense', reason: 'refund' })
  t.match((await service.payment('pay_d')).payment, { state: 'suspense', reason: 'chargeback' })
})

t.test('a refund is found by the loan of its payment, whichever comes first', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  await service.webhook('gateway_b', refundB(), LENDER)
  await service.batch()
  await service.webhook('gateway_a', refundA(), LENDER)
  await service.webhook('gateway_b', successB({ loan: 'L-1' }), LENDER)
  await service.batch()
  const { body } = await service.call('GET', '/api/payments?loan=L-1')
  const refunds = body.payments.filter((one: any) => one.kind === 'refund')
  t.same(refunds.map((one: any) => one.gateway).sort(), ['gateway_a', 'gateway_b'])
})
