import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { matchEach } from '../../support/match-each.ts'
import {
  capturedA,
  disputeA,
  eventA,
  eventB,
  PAID_AT,
  refundA,
  signedA,
  successB,
} from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const INSIDE = from('10.1.2.3')
const OUTSIDE = from('8.8.8.8')
const DAY_S = 86_400

/** LENDER_02 believes what comes from its networks. */
async function withNetworks(t: Test) {
  const file = lendersFile(t, { LENDER_02: { gateway_b: { allowedCidrs: ['10.0.0.0/8'] } } })
  const service = await paymentService(t, { LENDERS_FILE: file, TRUST_PROXY: '127.0.0.1' })
  await service.loan('L-9')
  return service
}

t.test(
  'a payment whose loan only an untrusted event names is posted only after an operator assigns it',
  async t => {
    const service = await withNetworks(t)
    await service.webhook('gateway_b', successB({ id: 1 }), INSIDE)
    await service.webhook('gateway_b', successB({ id: 1, loan: 'L-9' }), OUTSIDE)
    await service.webhook('gateway_a', capturedA(), { lender: 'LENDER_02' })
    await service.webhook('gateway_a', capturedA({ loan: 'L-9' }), { lender: 'LENDER_03' })
    await service.batch()
    const held = { state: 'suspense', reason: 'no_loan_named' }
    t.match((await service.payment(1, 'gateway_b')).payment, held)
    t.match((await service.payment('pay_1')).payment, { reason: 'lender_mismatch' })
    t.equal((await service.repayments()).length, 0)

    const named = { ...successB({ id: 1, loan: 'L-9' }), event_time: '2026-02-05T10:05:00+05:30' }
    await service.webhook('gateway_b', named, INSIDE)
    await service.assign('pay_1', 'L-9')
    await service.batch()
    t.match((await service.payment(1, 'gateway_b')).payment, { state: 'posted' })
    t.match((await service.payment('pay_1')).payment, { state: 'posted' })
  },
)

t.test('only trusted events determine the day of a repayment', async t => {
  const service = await withNetworks(t)
  await service.webhook('gateway_b', successB({ id: 1, loan: 'L-9' }), INSIDE)
  const backdated = successB({ id: 1, loan: 'L-9', time: '2026-01-20T10:00:00+05:30' })
  await service.webhook('gateway_b', backdated, OUTSIDE)
  await service.batch()
  matchEach(t, await service.repayments(), [{ externalId: 'gateway_b-1', date: '2026-02-05' }])
})

t.test(
  'a repayment that may have arrived is found, even if a later event names an earlier day',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    await service.loseAnswer()
    await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
    await service.batch()
    const earlier = eventA('order.paid', { loan: 'L-1', payment: { created_at: PAID_AT - DAY_S } })
    await service.webhook('gateway_a', earlier, { lender: 'LENDER_02' })
    await service.batch()
    // The operation is as after ten minutes of 425: under the old key the ledger would only repeat its answer.
    await sql`update loanops.operation set key_generation = 2`.execute(service.db)
    await service.faults([])
    const payment = await until(async () => {
      const { payment } = await service.payment('pay_1')
      return payment.waiting_for === null && payment.state !== 'posting' ? payment : undefined
    }, 'it ends')
    t.match(payment, { state: 'posted' })
  },
)

t.test('an event of a failed payment does not name the loan of the captured one', async t => {
  const service = await withNetworks(t)
  await service.webhook('gateway_b', successB({ id: 1 }), INSIDE)
  const failed = eventB('PAYMENT_FAILED_WEBHOOK', { id: 1, status: 'FAILED', loan: 'L-9' })
  await service.webhook('gateway_b', failed, OUTSIDE)
  await service.batch()
  const held = { state: 'suspense', reason: 'no_loan_named' }
  t.match((await service.payment(1, 'gateway_b')).payment, held)
})

const SIGNED_03 = { gateway_a: { validateSignature: true, secretEnv: 'SECRET_03' } }

/** LENDER_03 signs its events and LENDER_02 does not; each has a loan. */
async function withOneThatSigns(t: Test) {
  const LENDERS_FILE = lendersFile(t, { LENDER_03: SIGNED_03 })
  const service = await paymentService(t, { LENDERS_FILE, SECRET_03: 's3' })
  await service.loan('L-2', { product: 2 })
  await service.loan('L-3', { product: 3 })
  return {
    ...service,
    unsigned: (facts: object) => unsignedEvent(capturedA(facts)),
    signed: (facts: object) => signedEvent(capturedA(facts)),
    unsignedEvent,
    signedEvent,
  }

  function unsignedEvent(event: object) {
    return service.webhook('gateway_a', event, { lender: 'LENDER_02' })
  }
  function signedEvent(event: object) {
    const body = JSON.stringify(event)
    const headers = signedA('s3', body)
    return service.webhook('gateway_a', body, { lender: 'LENDER_03', headers })
  }
}

t.test('a verified event that names another lender does not outrank an unverified one', async t => {
  const service = await withOneThatSigns(t)
  await service.unsigned({ id: 'pay_loan', loan: 'L-2' })
  await service.unsigned({ id: 'pay_none' })
  await service.signed({ id: 'pay_late', loan: 'L-3' })
  await service.signed({ id: 'pay_loan', loan: 'L-3' })
  await service.signed({ id: 'pay_none', loan: 'L-3' })
  await service.unsigned({ id: 'pay_late', loan: 'L-2' })
  await service.batch()
  const held = { state: 'suspense', reason: 'events_disagree' }
  for (const id of ['pay_loan', 'pay_none', 'pay_late'])
    t.match((await service.payment(id)).payment, held, id)
  t.equal((await service.repayments()).length, 0)
})

t.test('a superseded event stops no assigned payment, even beside another lender’s', async t => {
  const service = await withOneThatSigns(t)
  await service.signed({})
  await service.batch()
  t.equal((await service.assign('pay_1', 'L-3')).status, 200)
  await service.webhook('gateway_a', capturedA({ amount: 50_000 }))
  await service.unsigned({})
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted', external_loan_id: 'L-3' })
})

t.test('an event that names another lender than a posted payment’s contradicts it', async t => {
  const service = await withOneThatSigns(t)
  await service.signed({ loan: 'L-3' })
  await service.batch()
  await service.unsigned({ loan: 'L-2' })
  await service.batch()
  const { payment } = await service.payment('pay_1')
  t.match(payment, { state: 'posted', external_loan_id: 'L-3', objection: 'events_disagree' })
})

t.test('an unverified refund does not hold a verified payment', async t => {
  const signed = { gateway_a: { validateSignature: true, secretEnv: 'SECRET_04' } }
  const file = lendersFile(t, { LENDER_04: signed })
  const service = await paymentService(t, { LENDERS_FILE: file, SECRET_04: 's4' })
  await service.loan('L-4', { product: 4 })
  const body = JSON.stringify(capturedA({ loan: 'L-4' }))
  await service.webhook('gateway_a', body, { lender: 'LENDER_04', headers: signedA('s4', body) })
  await service.webhook('gateway_a', refundA())
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted' })
  t.match((await service.payment('rfnd_1')).payment, { state: 'suspense', verified: false })
})

for (const [what, genuine, forged, reason] of [
  ['a copy of its refund', refundA(), refundA(), 'refund'],
  ['its refund as one of another payment', refundA(), refundA({ of: 'pay_other' }), 'refund'],
  ['its refund as failed', refundA(), refundA({ status: 'failed' }), 'refund'],
  ['its dispute as won', disputeAlone('created'), disputeAlone('won'), 'chargeback'],
] as const)
  t.test(`nobody releases a verified payment by sending ${what}, unsigned`, async t => {
    const service = await withOneThatSigns(t)
    await service.unsignedEvent(forged)
    await service.signedEvent(genuine)
    await service.signed({ loan: 'L-3' })
    await service.batch()
    await service.unsignedEvent({ ...forged, created_at: PAID_AT + DAY_S })
    await service.batch()
    t.match((await service.payment('pay_1')).payment, { state: 'suspense', reason })
    t.equal((await service.repayments()).length, 0)
  })

/** A dispute's event without the payment that comes along, which would name another lender. */
function disputeAlone(status: string) {
  const event = disputeA(status)
  const { payment, ...payload } = event.payload as Record<string, unknown>
  return { ...event, payload }
}

t.test('an unsigned refund holds no verified payment, whatever unsigned events say', async t => {
  const service = await withOneThatSigns(t)
  await service.unsignedEvent(eventA('payment.failed', { payment: { status: 'failed' } }))
  await service.unsignedEvent(refundA())
  await service.signed({ loan: 'L-3' })
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted', objection: null })
})
