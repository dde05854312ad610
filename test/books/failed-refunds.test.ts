import t, { type Test } from 'tap'
import { AROUND, fetchAll, gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { oddGateway, rowOfB } from '../support/books/odd-gateway.ts'
import { capturedA, refundA, refundB, successB } from '../support/payments/gateway-events.ts'
import { LENDER, paymentService, SECRET, sendSigned } from '../support/payments/payments.ts'
import { dispute, disputeOfB, refund, reversing } from '../support/payments/reversals.ts'

const HELD = ['suspense refund', 'suspense refund']
const RELEASED = ['posted ', 'failed ']

/** A captured payment, and a refund of it that the gateway's API reports as failed. `fates`: after a batch. */
async function withFailedRefund(t: Test) {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, {
    ...gateways.settings,
    GATEWAY_A_WEBHOOK_SECRET: SECRET,
  })
  await service.loan('L-1')
  const here = { gateway: 'gateway_a', amount: 100_000, created_at: PAID_AT }
  await gateways.put('/payments', { ...here, id: 'pay_1', notes: { loan_id: 'L-1' } })
  const refundAs = (status: string) =>
    gateways.put('/refunds', { ...here, id: 'rfnd_1', paymentId: 'pay_1', status })
  await refundAs('failed')
  const fates = async (id = 'rfnd_1') => {
    await service.batch()
    const both = [await service.payment('pay_1'), await service.payment(id)]
    return both.map(({ payment: { state, reason } }) => `${state} ${reason ?? ''}`)
  }
  return {
    gateways,
    service,
    send: async (...events: object[]) => {
      for (const event of events) await sendSigned(service, event)
    },
    fetch: () => fetchAll(service.call, 'gateway_a', { ...AROUND, ...LENDER }),
    fates,
    refundAs,
  }
}

t.test(
  'a refund that was made and then failed releases its payment once the gateway’s API says so',
  async t => {
    const { send, fetch, fates } = await withFailedRefund(t)
    await send(capturedA({ loan: 'L-1' }), refundA(), refundA({ status: 'failed' }))
    t.same(await fates(), HELD, 'webhooks come in any order')
    await fetch()
    t.same(await fates(), RELEASED)
  },
)

t.test(
  'a refund that is reported as made after the gateway’s API said otherwise holds its payment',
  async t => {
    const { send, fetch, fates } = await withFailedRefund(t)
    await fetch()
    await send(refundA())
    t.same(await fates(), HELD)
  },
)

t.test('a refund that failed is known as made once the gateway’s API says so', async t => {
  const { send, fetch, fates, refundAs } = await withFailedRefund(t)
  await send(capturedA({ loan: 'L-1' }), refundA())
  t.same(await fates(), HELD)
  await fetch()
  t.same(await fates(), RELEASED)
  await refundAs('processed')
  await fetch()
  t.same(await fates(), ['posted ', 'suspense refund'])
})

t.test('a refund of which only the API tells is held or released as the API says last', async t => {
  const { service, send, fetch, fates, refundAs } = await withFailedRefund(t)
  await send(capturedA({ loan: 'L-1' }))
  for (const [status, expected] of [
    ['processed', HELD],
    ['failed', RELEASED],
    ['processed', ['posted ', 'suspense refund']],
    ['failed', RELEASED],
    ['processed', ['posted ', 'suspense refund']],
  ] as const) {
    await refundAs(status)
    // A second fetch finds nothing new.
    for (const _ of [1, 2]) await fetch()
    t.same(await fates(), expected)
  }
  const { events } = (await service.call('GET', '/api/payments/gateway_a/rfnd_1')).body
  t.equal(events.length, 5)
})

t.test('a booked refund is not taken back once the API says it was made after all', async t => {
  const gateways = await gatewaySandbox(t)
  const service = await reversing(t, undefined, gateways.settings)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.signed(refund({ paise: 30_000 }))
  await service.batch()
  const here = { gateway: 'gateway_a', created_at: PAID_AT }
  await gateways.put('/payments', { ...here, id: 'pay_1' })
  const at = { ...here, id: 'rfnd_1', paymentId: 'pay_1', amount: 30_000 }
  for (const [status, objection] of [
    ['failed', 'taken_back'],
    ['processed', null],
  ]) {
    await gateways.put('/refunds', { ...at, status })
    await fetchAll(service.call, 'gateway_a', { ...AROUND, ...LENDER })
    await service.batch()
    t.same(await service.shown('rfnd_1'), ['posted', null, objection, null])
  }
})

t.test('a fetch finds that a dispute that was won is claimed again, or lost after all', async t => {
  const { gateways, send, fetch, fates } = await withFailedRefund(t)
  const CLAIMS = { disp_1: 'open', disp_2: 'lost' }
  await send(capturedA({ loan: 'L-1' }))
  for (const id of Object.keys(CLAIMS))
    await send(dispute('lost', { id }), dispute('won', { id, phase: 'pre_arbitration' }))
  for (const id of Object.keys(CLAIMS)) t.same(await fates(id), RELEASED)
  const at = { gateway: 'gateway_a', paymentId: 'pay_1', amount: 100_000, created_at: PAID_AT }
  for (const [id, status] of Object.entries(CLAIMS))
    await gateways.put('/disputes', { ...at, id, status, phase: 'arbitration' })
  await fetch()
  for (const id of Object.keys(CLAIMS))
    t.same(await fates(id), ['posted ', 'suspense chargeback'], id)
})

t.test('a fetch finds the refund and the dispute of gateway B that came back', async t => {
  const made = refundB({ id: 901, of: '1' })
  const lost = disputeOfB('DISPUTE_MERCHANT_LOST', 1000, '2')
  const back = { dispute_status: 'DISPUTE_MERCHANT_WON', order_details: { cf_payment_id: '2' } }
  const answers: Record<string, object> = {
    '/pg/recon': {
      data: [
        {
          ...rowOfB('1', { event: { event_type: 'REFUND_REVERSAL' } }),
          refund_details: { refund_id: 'R-1' },
        },
        rowOfB('2', { event: { event_type: 'DISPUTE_REVERSAL' } }),
      ],
      cursor: null,
    },
    '/pg/orders/order_1/refunds': [
      { ...made.data.refund, refund_id: 'R-1', refund_status: 'FAILED' },
    ],
    '/pg/payments/2/disputes': [{ ...lost.data.dispute, ...back }],
  }
  const { settings } = await oddGateway(t, ({ path }) => answers[path])
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  const events = [successB({ id: 1, loan: 'L-1' }), successB({ id: 2, loan: 'L-1' })]
  for (const event of [...events, made, lost]) await service.webhook('gateway_b', event, LENDER)
  const fates = async () => {
    await service.batch()
    const ids = ['1', '901', '2', 'disp_2']
    const rows = await Promise.all(ids.map(id => service.payment(id, 'gateway_b')))
    return rows.map(({ payment: { state, reason } }) => `${state} ${reason ?? ''}`)
  }
  t.same(await fates(), [...HELD, 'suspense chargeback', 'suspense chargeback'])
  await fetchAll(service.call, 'gateway_b', { ...AROUND, ...LENDER })
  t.same(await fates(), [...RELEASED, ...RELEASED])
})
