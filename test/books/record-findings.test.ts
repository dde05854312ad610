import { sql } from 'kysely'
import t from 'tap'
import { ALWAYS, postedTo } from '../../src/books/readback/posted-payments.ts'
import { recordFindings } from '../../src/books/readback/record-findings.ts'
import type { Database } from '../../src/database/database.ts'
import { newId } from '../../src/ids.ts'
import { serviceWithPosted } from '../support/books/readback.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { refundA } from '../support/payments/gateway-events.ts'

t.test('a finding about an earlier posting says nothing about a newer one', async t => {
  const { db, stateOf } = await serviceWithPosted(t, ['pay_1'])
  const [payment] = await postedTo(db, ['L-1'], ALWAYS, 'Asia/Kolkata')
  if (payment === undefined) throw new Error('not posted')
  const finding = {
    reason: 'reversed_at_ledger',
    difference: null,
    amount: null,
    detail: 'undone',
  } as const
  const record = (operationId: string) =>
    db
      .transaction()
      .execute(trx => recordFindings(trx, [{ ...finding, payment: { ...payment, operationId } }]))
  t.match(await record(newId()), { payments: 0, reversed: 0 })
  t.match(await stateOf('pay_1'), { state: 'posted' })
  t.match(await record(payment.operationId), { payments: 1, reversed: 1 })
  t.match(await record(payment.operationId), { payments: 0, reversed: 0 }, 'and only once')
})

t.test('a decision to leave a booked payment alone ends with its booking', async t => {
  const service = await serviceWithPosted(t, ['pay_1'])
  await sql`update core.transaction set decision = 'handled'`.execute(service.db)
  await service.undo('gateway_a-pay_1')
  t.match(await service.check('pay_1'), {
    body: { state: 'suspense', reason: 'reversed_at_ledger' },
  })
})

t.test('a run looks at no payment that was posted before its days', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await addPosted(db)
  await sql`vacuum analyze core.transaction`.execute(db)
  const page = (db: Database) =>
    sql`select * from core.loans_to_read_back(now() - interval '3 days', now(), null, null, 20000)`.execute(
      db,
    )
  t.ok((await pagesOf(ownerUrl, page)) < 200)
})

t.test('the payments of a few loans are found by their loans, whatever statistics say', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await addPosted(db)
  const ofTen = (db: Database) =>
    sql`select * from core.posted_to(array(select 'L-' || n from generate_series(1, 10) n), '-infinity', 'infinity', 'UTC')`.execute(
      db,
    )
  // A page for each of the 1,000 payments, and two of each of two indexes to learn that it has no events.
  t.ok((await pagesOf(ownerUrl, ofTen)) < 6_000)
})

t.test('neither a read-back nor a fetch reads the events of other payments', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  await addPosted(db)
  await sql`
    insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, paid_at, lender, received_at, set_aside)
    select source, raw_id, gateway, kind, gateway_payment_id, 'captured', received_at, lender, received_at,
           case when id::text like '%0' then 'repeat' end
      from core.transaction`.execute(db)
  await sql`vacuum analyze`.execute(db)
  const refund = Buffer.from(JSON.stringify(refundA({ id: 'rfnd_1', of: '7' }))).toString('base64')
  const asked = [
    sql`core.posted_to(array['L-7'], '-infinity', 'infinity', 'UTC')`,
    sql`core.unverified_payments(${newId()}, 'gateway_a', array(select n::text from generate_series(1, 100) n))`,
    sql`core.nameless_payments('gateway_a', array(select n::text from generate_series(1, 100) n))`,
    sql`core.unreported('gateway_a', array[${refund}::text])`,
    sql`core.times_answered('gateway_a', ${refund})`,
  ]
  for (const one of asked) {
    const pages = await pagesOf(ownerUrl, db => sql`select * from ${one} found`.execute(db))
    t.ok(pages < 2_000, `${pages} pages`)
  }
})

/** Two hundred loans with a hundred payments each, over as many days. */
function addPosted(db: Database) {
  return sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, named_loan_id, is_captured, is_verified, state,
      source, raw_id, received_at, posted_at)
    select 'gateway_a', 'payment', n, 'LENDER_02', 'L-' || n % 200, true, true, 'posted', 'lender_02_gateway_a',
           raw.new_id(), now(), now() - make_interval(days => n / 100)
      from generate_series(1, 20000) n`.execute(db)
}

/** The pages that a query touches once the catalogue has been read. */
async function pagesOf(url: string, run: (db: Database) => Promise<unknown>): Promise<number> {
  const [, again] = await buffersOf(url, async db => [await run(db), await run(db)])
  return again?.buffers ?? Number.NaN
}
