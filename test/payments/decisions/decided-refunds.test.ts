import t, { type Test } from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { delay, hurry } from '../../support/engine/operations.ts'
import { capturedA, disputeA, refundA, signedA } from '../../support/payments/gateway-events.ts'
import { LENDER, type PaymentService, paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

const DISMISS = { outcome: 'dismiss', note: 'a forgery' }
const HANDLED = { outcome: 'handled', note: 'seen' }
const captured = capturedA({ loan: 'L-1' })

async function withLoan(t: Test, settings: NodeJS.ProcessEnv = {}) {
  const service = await paymentService(t, settings)
  await service.loan('L-1')
  return service
}

async function sent(service: PaymentService, ...events: object[]) {
  for (const event of events) await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  return (await service.payment('pay_1')).payment
}

t.test('a payment held by a refund that was decided is released once the refund fails', async t => {
  const service = await withLoan(t)
  const held = { state: 'suspense', reason: 'refund' }
  t.match(await sent(service, captured, refundA({ status: 'created' })), held)
  await service.resolve('rfnd_1', HANDLED)
  t.match(await sent(service), held, 'the money was given back all the same')
  t.match(await sent(service, refundA({ status: 'failed' })), { state: 'posted' })
  t.match((await service.payment('rfnd_1')).payment, { state: 'handled' })
})

t.test('a refund that counts for nothing holds no payment once it is dismissed', async t => {
  const file = lendersFile(t, { LENDER_02: { gateway_a: { allowedCidrs: ['127.0.0.0/8'] } } })
  const service = await withLoan(t, { LENDERS_FILE: file, TRUST_PROXY: '127.0.0.1' })
  const outside = { ...LENDER, headers: { 'x-forwarded-for': '192.0.2.1' } }
  await service.webhook('gateway_a', refundA(), outside)
  await service.batch()
  t.match(await service.resolve('rfnd_1', DISMISS), { status: 200 })
  t.match(await sent(service, captured), { state: 'posted', objection: null })
})

t.test('a payment on its way is stopped by its refund, also once that is handled', async t => {
  const service = await withLoan(t)
  await service.faults([{ kind: 'locked', match: { on: 'writes' } }])
  t.match(await sent(service, captured), { waiting_for: 'ledger_busy' })
  const repayment = await delay(service, 'loan:L-1')
  t.match(await sent(service, refundA()), { objection: 'refund' })
  t.match(await service.resolve('rfnd_1', HANDLED), { status: 200 })
  await service.faults([])
  await hurry(service, repayment)
  await until(async () => (await service.payment('pay_1')).payment.state === 'suspense')
  t.equal((await service.repayments()).length, 0)
})

t.test('a dismissed refund raises its objection again when a genuine event reports it', async t => {
  const file = lendersFile(t, {
    LENDER_02: { gateway_a: { validateSignature: false, secretEnv: 'SECRET_02' } },
  })
  const service = await withLoan(t, { LENDERS_FILE: file, SECRET_02: 's2' })
  t.match(await sent(service, captured), { state: 'posted' })
  t.match(await sent(service, refundA()), { objection: 'refund' })
  await service.resolve('rfnd_1', DISMISS)
  t.match(await sent(service, { ...refundA(), account_id: 'acc_x' }), { objection: null })
  const genuine = JSON.stringify({ ...refundA(), account_id: 'acc_y' })
  await service.webhook('gateway_a', genuine, { ...LENDER, headers: signedA('s2', genuine) })
  t.match(await sent(service), { state: 'posted', objection: 'refund' })
  t.match((await service.payment('rfnd_1')).payment, { state: 'dismissed' })
})

t.test('a dispute whose objection was cleared objects again once it is lost', async t => {
  const service = await withLoan(t)
  const dispute = (status: string) => disputeA(status, { loan: 'L-1' })
  t.match(await sent(service, captured, dispute('created')), { reason: 'chargeback' })
  t.match(await sent(service, dispute('won')), { state: 'posted', objection: null })

  const open = { id: 'pay_2', loan: 'L-1' }
  const second = (status: string) => {
    const event: any = disputeA(status, open)
    event.payload.dispute.entity.id = 'disp_2'
    return event
  }
  const objection = async (...events: object[]) => {
    await sent(service, ...events)
    return (await service.payment('pay_2')).payment.objection
  }
  await sent(service, capturedA(open))
  t.equal(await objection(second('created')), 'chargeback')
  await service.resolve('pay_2', DISMISS)
  await service.resolve('disp_2', DISMISS)
  t.equal(await objection(second('under_review')), null)
  t.equal(await objection(second('lost')), 'chargeback')
  await service.resolve('pay_2', DISMISS)
  t.equal(await objection({ ...second('lost'), account_id: 'acc_x' }), null)
})

t.test('a refund that was booked by hand, then fails, says so and cannot be restored', async t => {
  const service = await withLoan(t)
  t.match(await sent(service, captured), { state: 'posted' })
  t.match(await sent(service, refundA()), { objection: 'refund' })
  await service.resolve('rfnd_1', HANDLED)
  t.match(await sent(service), { objection: null })
  await sent(service, refundA({ status: 'failed' }))
  const takenBack = { state: 'handled', objection: 'taken_back' }
  t.match((await service.payment('rfnd_1')).payment, takenBack)
  t.equal((await service.resolve('rfnd_1', { outcome: 'restore', note: 'again' })).status, 409)
  t.match(await service.resolve('rfnd_1', HANDLED), { status: 200 })
  t.match((await service.payment('rfnd_1')).payment, { state: 'handled', objection: null })
})

t.test('a payment that was decided for its refund says so once the refund fails', async t => {
  const service = await withLoan(t)
  const decisions = {
    less: { outcome: 'post', external_loan_id: 'L-1', amount: 600, paid_on: '05 February 2026' },
    // It names no loan, and its refund failed before.
    before: { outcome: 'dismiss' },
    all: { outcome: 'post', external_loan_id: 'L-1', amount: 1_000, paid_on: '05 February 2026' },
    none: { outcome: 'dismiss' },
    dismissed: {
      outcome: 'post',
      external_loan_id: 'L-1',
      amount: 600,
      paid_on: '05 February 2026',
    },
  }
  const ids = Object.keys(decisions)
  const refunds = (status: string) => ids.map(of => refundA({ id: `rfnd_${of}`, of, status }))
  const captures = ids.map(id => capturedA({ id, ...(id !== 'before' && { loan: 'L-1' }) }))
  await sent(service, ...captures, ...refunds('created'))
  await sent(service, refundA({ id: 'rfnd_before', of: 'before', status: 'failed' }))
  for (const [id, decision] of Object.entries(decisions))
    t.match(await service.resolve(id, { ...decision, note: 'seen' }), { status: 200 }, id)
  await service.resolve('rfnd_dismissed', DISMISS)
  await sent(service)
  await sent(service, ...refunds('failed'))
  const objections = Object.fromEntries(
    await Promise.all(ids.map(async id => [id, (await service.payment(id)).payment.objection])),
  )
  const short = 'events_disagree'
  t.same(objections, { less: short, before: null, all: null, none: short, dismissed: short })
})
