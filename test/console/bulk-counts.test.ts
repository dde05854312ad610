import { sql } from 'kysely'
import t from 'tap'
import { countItems, MAX_BULK_ITEMS } from '../../src/console/bulk/bulk-store.ts'
import { confirmation } from '../../src/console/bulk/confirmation.ts'
import { matchingItems } from '../../src/console/bulk/matching-items.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'
import { startTestService } from '../support/service.ts'

t.test('a bulk assignment takes the payments that can be assigned', async t => {
  const { db, loan, webhook, batch, assign } = await paymentService(t)
  await loan('L-1')
  const dollars = capturedA({ id: 'pay_usd', loan: 'L-1', payment: { currency: 'USD' } })
  for (const event of [dollars, capturedA({ id: 'pay_lost', loan: 'L-77' })])
    await webhook('gateway_a', event, { lender: 'LENDER_02' })
  await batch()
  const { rows } = await matchingItems('payments.assign', {}, 'UTC').execute(db)
  t.match(rows, [{ item: { id: 'pay_lost' } }])
  t.match(await assign('pay_usd', 'L-1'), { status: 409 })
  t.match(await assign('pay_lost', 'L-1'), { status: 200 })
})

t.test('a bulk cancellation takes the operations that were never tried', async t => {
  const { db, call } = await startTestService(t, { ROLE: 'api' })
  const [tried, untried] = [
    await submit(call, 'CLIENT_CREATE', clientData('C-1')),
    await submit(call, 'CLIENT_CREATE', clientData('C-2')),
  ]
  // A worker that died while it called the ledger leaves the operation so.
  await sql`update loanops.operation set look_first = true where external_id = 'C-1'`.execute(db)
  const { rows } = await matchingItems('operations.cancel', {}, 'UTC').execute(db)
  t.same(rows, [{ item: { tracking_id: untried } }])
  const cancel = (id: string) =>
    call('POST', `/api/ledger/operations/${encodeURIComponent(id)}/cancel`)
  t.match(await cancel(tried), { status: 409 })
  t.match(await cancel(untried), { status: 202 })
})

t.test(
  'a bulk action is confirmed with its filter, or with the word that there is none',
  async t => {
    const page = async (filter: object) => {
      const wanted = { decision: 'payments.dismiss', note: 'known', ...filter } as const
      return String(await confirmation(wanted, { count: 5, digest: '' }))
    }
    const shown = await page({ state: 'suspense', reason: 'loan_unknown' })
    t.match(shown, /The filter: <a [^>]*>payments with state: suspense, reason: loan_unknown</)
    t.match(
      await page({}),
      'No filter is set: these are all payments that the decision applies to.',
    )
  },
)

t.test('a bulk dismissal says that what is booked only loses its objection', async t => {
  const { loan, webhook, batch, resolve } = await paymentService(t)
  await loan('L-1')
  const from = { lender: 'LENDER_02' }
  await webhook('gateway_a', capturedA({ loan: 'L-1' }), from)
  await batch()
  await webhook('gateway_a', refundA(), from)
  await batch()
  const wanted = { decision: 'payments.dismiss', note: 'known' } as const
  const page = String(await confirmation(wanted, { count: 1, digest: '' }))
  t.match(page, 'one with an objection keeps its state, and only the objection is cleared')
  const { body } = await resolve('pay_1', { outcome: 'dismiss', note: 'known' })
  t.match(body, { state: 'posted', objection: null })
})

t.test(
  'more payments than a bulk action may have are counted without reading their facts',
  async t => {
    const { db, ownerUrl } = await freshDatabase(t)
    await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, amount, currency, paid_at, is_captured, is_verified,
      state, reason, source, raw_id, received_at)
    select 'gateway_a', 'payment', 'pay_' || n, 'LENDER_02', 100, 'INR', now(), true, true, 'suspense', 'no_loan_named', 's', raw.new_id(), now()
      from generate_series(1, ${MAX_BULK_ITEMS + 1}::integer) n`.execute(db)
    await sql`vacuum analyze core.transaction`.execute(db)
    const items = matchingItems('payments.dismiss', {}, 'UTC')
    t.match(await countItems(db, items), { count: MAX_BULK_ITEMS + 1 })
    const touched = await buffersOf(ownerUrl, db => countItems(db, items))
    const buffers = touched.reduce((sum, one) => sum + one.buffers, 0)
    t.ok(buffers < MAX_BULK_ITEMS, `${buffers} pages`)
  },
)
