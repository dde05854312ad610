import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { filled, reconciliation } from '../../support/books/reconciliation.ts'
import { delay, hurry } from '../../support/engine/operations.ts'
import { capturedA, eventA, PAID_AT } from '../../support/payments/gateway-events.ts'
import { paymentService, sent } from '../../support/payments/payments.ts'
import { REPAY } from '../../support/payments/repaid-loan.ts'
import { refund, reversing } from '../../support/payments/reversals.ts'

const ORDER = '/api/references/gateway_a/order/order_9'
const OTHERS = { lender: 'LENDER_03' }
/** What the ledger has is not what is left of the payment. */
const DIFFERS = ['suspense', 'ledger_refused', null, '1000']

const ofOrder = eventA('payment.captured', { id: 'pay_1', payment: { order_id: 'order_9' } })

async function withReference(t: Test) {
  const service = await reversing(t)
  t.match(await service.call('PUT', ORDER, { external_loan_id: 'L-1' }), { status: 201 })
  return service
}

t.test('money that went back whole is sought at its loan after its reference is gone', async t => {
  const service = await withReference(t)
  await service.bookByHand('pay_1', 1_000)
  await service.signed(ofOrder)
  await service.signed(refund({ paise: 100_000 }))
  await service.batch()
  t.same(await service.shown('pay_1'), DIFFERS)
  t.match(await service.call('DELETE', ORDER), { status: 204 })
  await service.batch()
  t.same(await service.shown('pay_1'), DIFFERS)
})

t.test('money that went back whole is looked for at its loan, whatever strangers name', async t => {
  const service = await reversing(t)
  await service.bookByHand('pay_1', 1_000)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.signed(refund({ paise: 100_000 }))
  await service.batch()
  await service.webhook('gateway_a', eventA('order.paid', { id: 'pay_1', loan: 'ZZZ' }), OTHERS)
  await service.batch()
  t.same(await service.shown('pay_1'), DIFFERS)
})

t.test('a returned payment keeps loan and amount, and is posted again by a restore', async t => {
  const service = await reversing(t)
  const ids = ['pay_1', 'pay_2']
  const refundOf = (of: string, more = {}) =>
    refund({ id: `rfnd_${of}`, of, paise: 100_000, ...more })
  for (const id of ids) await service.signed(capturedA({ id, loan: 'L-1' }))
  await service.batch()
  for (const id of ids) await service.signed(refundOf(id))
  await service.batch()
  const unsigned = (event: object) => service.webhook('gateway_a', event, OTHERS)
  await unsigned(eventA('order.paid', { id: 'pay_1', loan: 'ZZZ' }))
  await unsigned(eventA('order.paid', { id: 'pay_2', loan: 'L-1', amount: 500_000 }))
  await service.batch()
  for (const id of ids) {
    const { payment } = await service.payment(id)
    const { state, objection, external_loan_id, amount } = payment
    t.same([state, objection, external_loan_id], ['returned', 'events_disagree', 'L-1'], id)
    t.equal(Number(amount), 1_000, id)
  }
  for (const of of ids)
    await service.signed(refundOf(of, { status: 'failed', name: 'refund.failed' }))
  await service.batch()
  for (const id of ids) t.match(await service.decide(`rfnd_${id}`, 'restore'), { status: 200 })
  await service.batch()
  t.same(await service.standing(), { 'pay_1-r2': 1_000, 'pay_2-r2': 1_000 })
})

t.test('the rest of a half reversed payment stays with its loan', async t => {
  const service = await withReference(t)
  await service.loan('L-2')
  await service.signed(ofOrder)
  await service.batch()
  await service.faults([{ kind: 'tooMany', match: REPAY }])
  await service.signed(refund({ paise: 30_000 }))
  await service.batch()
  const operation = await delay(service, 'loan:L-1')
  await service.faults([])
  await service.bookByHand('pay_1', 50)
  await hurry(service, operation)
  await service.ended('rfnd_1')
  const replaced = await service.call('PUT', `${ORDER}?replace=true`, { external_loan_id: 'L-2' })
  t.match(replaced, { status: 201 })
  await service.bookByHand('pay_1', 700)
  await sql`
    update core.transaction set next_try_at = now() where state = 'suspense'`.execute(service.db)
  await service.batch()
  t.same(await service.shown('pay_1'), ['posted', null, null, '300'])
  t.same((await service.payment('pay_1')).payment.external_loan_id, 'L-1')
})

t.test('a payment with more refunds than are read at once is returned by all of them', async t => {
  const service = await reversing(t)
  const { rows } = await sql<{ most: number }>`
    select core.most_refunds() as most`.execute(service.db)
  const paise = 100
  const count = (rows[0]?.most ?? 0) + 5
  await service.signed(capturedA({ id: 'pay_0', loan: 'L-1' }))
  await service.batch()
  for (let i = 0; i < count; i++) await service.signed(refund({ id: `rfnd_${i}`, paise }))
  await service.batch()
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['posted', null, null, String(count)])
  t.equal((await service.standing()).pay_1, 1_000 - count)
})

t.test('a payment of which only the payer’s fee is left is returned at once', async t => {
  const service = await reversing(t)
  const paid = eventA('order.paid', {
    id: 'pay_1',
    amount: 469_218,
    loan: 'L-1',
    payment: { fee: 10_818, tax: 1_650, fee_bearer: 'customer' },
    payload: { order: { entity: { id: 'order_1', amount: 458_400 } } },
  })
  await service.signed(paid)
  await service.signed(refund({ paise: 458_400 }))
  await service.batch()
  t.same(await service.shown('pay_1'), ['returned', null, null, '4584'])
  t.same(await service.standing(), {})
})

t.test('a refused reversal leaves the day of its payment as a read-back found it', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.readBack()
  const day = async () => filled((await reconciliation(service.call)).days[0])
  const found = await day()
  t.match(found, { posted: '1 1000.00' })
  await service.ledgerCall('POST', '/loans/external-id/L-1/transactions?command=writeoff', {
    transactionDate: '2026-03-01',
    dateFormat: 'yyyy-MM-dd',
    locale: 'en',
  })
  await service.signed(refund({ paise: 25_000 }))
  await service.batch()
  t.same(await service.shown('rfnd_1'), ['suspense', 'reversal_refused', null, null])
  t.same(await day(), found)
})

t.test('a refund that is reopened shows again why its reversal was refused', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  await service.undo('gateway_a-pay_1')
  await service.signed(refund({ paise: 25_000 }))
  await service.batch()
  const { detail } = (await service.payment('rfnd_1')).payment
  t.match(detail, 'undone')
  await service.decide('rfnd_1', 'dismiss')
  t.match(await service.resolve('rfnd_1', { outcome: 'reopen', note: 'again' }), { status: 200 })
  t.match((await service.payment('rfnd_1')).payment, { reason: 'reversal_refused', detail })
})

t.test('a posted payment gets the lender that only a later event names', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const captured = capturedA({ loan: 'L-1' })
  await service.webhook('gateway_a', captured)
  t.match(await sent(service, []), { state: 'posted', lender: 'UNKNOWN' })
  const other = eventA('order.paid', { loan: 'L-2' })
  t.match(await sent(service, [other]), { objection: 'events_disagree', lender: 'UNKNOWN' })
  const paid = eventA('order.paid', { loan: 'L-1' })
  t.match(await sent(service, [paid]), {
    state: 'posted',
    lender: 'LENDER_02',
    external_loan_id: 'L-1',
  })
})

t.test('a posted payment is verified once a signed event states the same', async t => {
  const trust = { validateSignature: false, secretEnv: 'S' }
  const service = await reversing(t, trust)
  t.match(await sent(service, [capturedA({ loan: 'L-1' })]), { state: 'posted', verified: false })
  await service.signed(eventA('order.paid', { loan: 'L-1', amount: 5 }))
  t.match(await sent(service, []), { objection: 'events_disagree', verified: false })
  await service.signed(eventA('order.paid', { loan: 'L-1' }))
  t.match(await sent(service, []), { state: 'posted', verified: true })
})

t.test('a posting whose answer was lost is found, whatever day a signed event names', async t => {
  const service = await reversing(t, { validateSignature: false, secretEnv: 'S' })
  await service.loseAnswer()
  await sent(service, [capturedA({ loan: 'L-1' })])
  const dayBefore = { created_at: PAID_AT - 86_400 }
  await service.signed(eventA('order.paid', { loan: 'L-1', payment: dayBefore }))
  t.match(await sent(service, []), { waiting_for: 'outcome_unknown' })
  await service.faults([])
  t.match(await service.ended('pay_1'), { state: 'posted', objection: null })
})
