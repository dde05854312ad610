import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database.ts'
import { newId } from '../../src/ids.ts'
import {
  claimHeads,
  expiredSubjects,
  markUnavailable,
  overdueSubjects,
} from '../../src/operations/claim.ts'
import { listOperations } from '../../src/operations/find.ts'
import { ORIGINS } from '../../src/operations/queue.ts'
import { readyLoans } from '../../src/operations/waiting.ts'
import { buffersOf } from '../support/buffers.ts'
import { freshDatabase } from '../support/fresh-database.ts'

const WAITING = 10_000
/** Some tens of index and table pages; walking the backlog would touch thousands. */
const MOST_BUFFERS = 300
const ONE_DAY_SECONDS = 86_400

t.test('no statement of the engine walks the ten thousand that wait on one loan', async t => {
  const { url, db } = await freshDatabase(t)
  await addWaiting(db, WAITING)
  const worker = newId()
  const statements: Record<string, (db: Database) => Promise<unknown>> = {
    'a claim on the hot loan': db => claimHeads(db, worker, ['loan:HOT']),
    'claims on others': db => claimHeads(db, worker, ['loan:L-1', 'loan:L-2', 'client:C']),
    'the sweep': db => overdueSubjects(db, [...ORIGINS], 200),
    'the sweep for what ran out of time': db =>
      expiredSubjects(db, [...ORIGINS], ONE_DAY_SECONDS, 200),
    'why it waits while the ledger is down': db => markUnavailable(db, ['loan:HOT']),
    'whom a client’s end wakes': db => readyLoans(db, ['client:C']),
    'the list of one loan': db => listOperations(db, { external_id: 'HOT', limit: 10 }),
    'why the newest of it waits': db =>
      sql`select * from ops.operation where external_id = 'HOT' order by seq desc limit 1`.execute(
        db,
      ),
  }
  for (const [what, run] of Object.entries(statements)) {
    for (const { statement, buffers } of await buffersOf(url, run))
      t.ok(buffers < MOST_BUFFERS, `${what} touches ${buffers} pages: ${statement}`)
  }
})

async function addWaiting(db: Database, count: number) {
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data)
    select gen_random_uuid(), 'LOAN_UPDATE', 'api', 'loan:HOT', 'HOT', '{}' from generate_series(1, ${count})`.execute(
    db,
  )
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, waits_for, external_id, data)
    select gen_random_uuid(), 'LOAN_CREATE', 'api', 'loan:L-' || n, 'client:C', 'L-' || n, '{}' from generate_series(1, 20) n`.execute(
    db,
  )
  await sql`analyze loanops.operation`.execute(db)
}
