import { sql } from 'kysely'
import t from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { capturedA, eventA, refundA, signedA } from '../../support/payments/gateway-events.ts'
import { ownLoan, paymentService } from '../../support/payments/payments.ts'

/** LENDER_02 validates signatures; others do not, so that an event without a lender needs none. */
const LENDERS_FILE = lendersFile(t, {
  LENDER_02: { gateway_a: { validateSignature: true, secretEnv: 'S' } },
})
const service = await paymentService(t, { LENDERS_FILE, S: 'secret' })
const victim = await ownLoan(service)

const OTHERWISE = { state: 'suspense', reason: 'events_disagree' }
const DOWN = [{ kind: 'error', status: 502, match: { on: 'reads' } }]

async function signed(event: object) {
  const body = JSON.stringify(event)
  const headers = signedA('secret', body)
  await service.webhook('gateway_a', body, { lender: 'LENDER_02', headers })
}
const unsigned = async (event: object) => {
  await service.webhook('gateway_a', event)
}
const payment = async (id: string) => (await service.payment(id)).payment
const booked = async (loan: string) => (await service.repayments(loan)).map(({ amount }) => amount)

/** A payment that this event reports, assigned to a loan of its own. */
async function assigned(facts: object = {}, send = unsigned) {
  const { id, loan } = await ownLoan(service)
  await send(capturedA({ id, ...facts }))
  await service.batch()
  t.equal((await service.assign(id, loan)).status, 200)
  return { id, loan }
}

for (const [name, isHeld, seen, genuine] of [
  ['another amount and loan', false, { amount: 100 }, { amount: 9_000_000, loan: victim.loan }],
  ['another amount', true, { amount: 100 }, { amount: 9_000_000 }],
  ['another currency', false, { currency: 'USD' }, {}],
  ['a loan', true, {}, { loan: victim.loan }],
  ['another loan', false, { loan: 'L-unknown' }, { loan: victim.loan }],
] as const)
  t.test(`a payment is not posted as assigned once an event proves ${name}`, async t => {
    const { id, loan } = await assigned(seen)
    if (isHeld) {
      await service.batch()
      t.match(await payment(id), { reason: 'signature_not_verified' })
    }
    await signed(eventA('order.paid', { id, ...genuine }))
    await service.batch()
    await service.batch()
    t.match(await payment(id), { ...OTHERWISE, external_loan_id: loan, verified: true })
    t.match((await payment(id)).detail, new RegExp(`was assigned to ${loan} when its events said`))
    t.same([...(await booked(victim.loan)), ...(await booked(loan))], [])
    t.equal((await service.assign(id, loan)).status, 200, 'it can be assigned again')
    await service.batch()
    const { amount = 100_000 } = genuine as { amount?: number }
    t.match(await service.ended(id), { state: 'posted', external_loan_id: loan, objection: null })
    t.same(await booked(loan), [amount / 100])
  })

for (const [name, seen, later] of [
  ['proves what was assigned', {}, {}],
  ['names the assigned loan', {}, { isNamed: true }],
  ['names the loan that was overruled', { loan: 'L-unknown' }, { loan: 'L-unknown' }],
  ['names the assigned loan, not the overruled one', { loan: 'L-unknown' }, { isNamed: true }],
] as const)
  t.test(`an event that ${name} lets the assignment stand`, async t => {
    const { id, loan } = await assigned(seen)
    await service.batch()
    t.match(await payment(id), { reason: 'signature_not_verified' })
    const { isNamed = false, ...facts } = later as { isNamed?: boolean }
    await signed(eventA('order.paid', { id, ...facts, ...(isNamed && { loan }) }))
    await service.batch()
    t.match(await service.ended(id), { state: 'posted', external_loan_id: loan, objection: null })
    await signed(eventA('payment_link.paid', { id, ...seen }))
    await service.batch()
    t.match(await service.ended(id), { state: 'posted', objection: null }, 'nor does a further one')
  })

t.test('each loan that is named after an assignment needs one of its own', async t => {
  const { id, loan } = await assigned({}, signed)
  await signed(eventA('order.paid', { id, loan: victim.loan }))
  await service.batch()
  t.match(await payment(id), OTHERWISE)
  t.equal((await service.assign(id, loan)).status, 200)
  // This loan is between the two in the alphabet.
  await signed(eventA('payment_link.paid', { id, loan: `${victim.loan}-b` }))
  await service.batch()
  t.match(await payment(id), OTHERWISE)
  t.equal((await service.assign(id, loan)).status, 200)
  await service.batch()
  t.match(await service.ended(id), { state: 'posted', external_loan_id: loan, objection: null })
})

t.test('an event of another loan stops an assigned payment on its way', async t => {
  const { id, loan } = await assigned({}, signed)
  await service.faults(DOWN)
  await service.batch()
  t.match(await payment(id), { waiting_for: 'ledger_unavailable' })
  await signed(eventA('order.paid', { id, loan: victim.loan }))
  await service.batch()
  t.match(await payment(id), { objection: 'events_disagree' })
  await service.faults([])
  t.match(await service.ended(id), { ...OTHERWISE, objection: null })
  await service.batch()
  t.match(await payment(id), OTHERWISE)
  t.same(await booked(loan), [])
})

for (const decision of ['assigned', 'posted by an operator'] as const)
  t.test(`a loan that is named once a payment was ${decision} is an objection, once`, async t => {
    const { id, loan } = await ownLoan(service)
    await signed(capturedA({ id, loan: 'L-unknown' }))
    await service.batch()
    t.match(await payment(id), { reason: 'loan_unknown' })
    const post = { outcome: 'post', external_loan_id: loan, amount: 1000, note: 'known' }
    if (decision === 'assigned') await service.assign(id, loan)
    else await service.resolve(id, { ...post, paid_on: '05 February 2026' })
    await service.batch()
    t.match(await service.ended(id), { state: 'posted', external_loan_id: loan })
    await signed(eventA('order.paid', { id, loan: 'L-unknown' }))
    await service.batch()
    t.match(await payment(id), { objection: null }, 'the loan that was overruled')
    await signed(eventA('payment_link.paid', { id, loan: victim.loan }))
    await service.batch()
    t.match(await service.ended(id), { state: 'posted', objection: 'events_disagree' })
    const { events } = (await service.call('GET', `/api/payments/gateway_a/${id}`)).body
    t.ok(events.some(({ counts }: { counts: unknown }) => typeof counts === 'string'))
    const seen = { outcome: 'dismiss', note: 'the gateway was wrong' }
    t.equal((await service.resolve(id, seen)).status, 200)
    await signed(capturedA({ id, loan: victim.loan }))
    await service.batch()
    t.match(await service.ended(id), { state: 'posted', objection: null }, 'the same once more')
    t.same(await booked(loan), [1000])
  })

t.test('a payment booked by hand for a loan objects to another, also once reopened', async t => {
  const { id, loan } = await assigned({}, signed)
  await signed(eventA('order.paid', { id, loan: victim.loan }))
  await service.batch()
  t.match(await payment(id), OTHERWISE)
  const handled = { outcome: 'handled', external_loan_id: victim.loan, note: 'by hand' }
  t.equal((await service.resolve(id, handled)).status, 200)
  await signed(eventA('payment_link.paid', { id, loan: 'L-third' }))
  await service.batch()
  t.match(await payment(id), { state: 'handled', objection: 'events_disagree' })
  t.equal((await service.resolve(id, { outcome: 'reopen', note: 'undone' })).status, 200)
  t.match(await payment(id), { ...OTHERWISE, external_loan_id: loan, objection: null })
  t.equal((await service.assign(id, loan)).status, 200)
  await service.batch()
  t.match(await service.ended(id), { state: 'posted', external_loan_id: loan })
})

t.test('a reference that a later event brings names another loan too', async t => {
  const put = (order: string, loan: string) =>
    service.call('PUT', `/api/references/gateway_a/order/${order}`, { external_loan_id: loan })
  const paid = (order_id: string) => ({ payment: { order_id } })
  const { id, loan } = await assigned(paid('order_seen'), signed)
  t.equal((await put('order_seen', victim.loan)).status, 201)
  t.equal((await put('order_new', victim.loan)).status, 201)
  await service.batch()
  t.match(await service.ended(id), { state: 'posted' }, 'a later reference changes no decision')
  const other = await assigned({}, signed)
  await signed(eventA('order.paid', { id: other.id, ...paid('order_new') }))
  await service.batch()
  t.match(await payment(other.id), { ...OTHERWISE, external_loan_id: other.loan })
  t.equal((await service.assign(other.id, other.loan)).status, 200)
  await service.batch()
  t.match(await service.ended(other.id), { state: 'posted', external_loan_id: other.loan })
  t.same(await booked(loan), [1000])
})

t.test('events that differ in amount are still not for an assignment to decide', async t => {
  const { id, loan } = await assigned({}, signed)
  await signed(eventA('order.paid', { id, amount: 5 }))
  await service.batch()
  t.match(await payment(id), OTHERWISE)
  t.match(await service.assign(id, loan), { status: 409 })
})

t.test('an assignment that was stored without its facts stands as before', async t => {
  const { id, loan } = await assigned({}, signed)
  await sql`
    update core.transaction set assigned_over = null
     where gateway_payment_id = ${id}`.execute(service.db)
  await signed(eventA('order.paid', { id, loan: victim.loan }))
  await service.batch()
  t.match(await service.ended(id), { state: 'posted', external_loan_id: loan, objection: null })
})

t.test('a refund comes before the question which loan an assigned payment is for', async t => {
  const { id } = await assigned({}, signed)
  await signed(eventA('order.paid', { id, loan: victim.loan }))
  await signed(refundA({ id: `rfnd_${id}`, of: id }))
  await service.batch()
  t.match(await payment(id), { state: 'suspense', reason: 'refund' })
})
