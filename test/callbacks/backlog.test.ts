import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { claimCallbacks } from '../../src/callbacks/sending/claim-callbacks.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { type FreshDatabase, freshDatabase } from '../support/database/fresh-database.ts'

const SUBJECTS = 200
const CLAIMED = 32
/** The row of each subject, its page, and the pages of the indexes that lead there. */
const PAGES_PER_SUBJECT = 50

t.test('choosing a subject’s next callback does not read the backlog of others', async t => {
  const { db } = await withBacklog(t)
  const subjects = Array.from({ length: SUBJECTS }, (_, n) => `loan:L-${20_001 + n}`)
  const { rows } = await sql<{ 'QUERY PLAN': any }>`
    explain (analyze, buffers, format json) select loanops.choose_next_callbacks(${subjects})`.execute(
    db,
  )
  const read = rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']
  t.ok(read < SUBJECTS * PAGES_PER_SUBJECT, `${read} pages`)
  const { rows: next } = await sql`select from loanops.callback where is_next`.execute(db)
  t.equal(next.length, SUBJECTS)
})

t.test('claiming callbacks does not read all that are pending for each', async t => {
  const { db, url } = await withBacklog(t)
  await sql`update loanops.callback set is_next = true where state = 'pending'`.execute(db)
  const touched = await buffersOf(url, trx => claimCallbacks(trx, CLAIMED))
  const read = touched.reduce((sum, { buffers }) => sum + buffers, 0)
  t.ok(read < CLAIMED * PAGES_PER_SUBJECT, `${read} pages`)
})

t.test('no column that says what is left to do has statistics of quiet times', async t => {
  const { db } = await freshDatabase(t)
  const { rows } = await sql<{ column: string }>`
    select relname || '.' || attname as column
          from pg_attribute a join pg_class c on c.oid = a.attrelid
         where attstattarget = 0 order by 1`.execute(db)
  const columns = rows.map(({ column }) => column).join(' ')
  t.equal(
    columns,
    'bulk_item.outcome callback.state migration_row.state operation.status transaction.state',
  )
})

/** Twenty thousand callbacks were delivered, and four thousand wait. */
async function withBacklog(t: Test): Promise<FreshDatabase> {
  const database = await freshDatabase(t)
  const { db } = database
  const insert = (state: string, from: number, to: number) =>
    sql`insert into loanops.callback (type, subject, about, occurred_at, sequence, body, state)
        select 'payment.posted', 'loan:L-' || n, raw.new_id(), now(), 1, '{}', ${state}
         from generate_series(${from}::integer, ${to}::integer) n`.execute(db)
  await insert('delivered', 1, 20_000)
  // A database that had statistics of quiet times before keeps them.
  await sql`alter table loanops.callback alter column state set statistics default`.execute(db)
  await sql`analyze loanops.callback`.execute(db)
  await insert('pending', 20_001, 24_000)
  return database
}
