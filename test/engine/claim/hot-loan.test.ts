import { sql } from 'kysely'
import t from 'tap'
import type { Database, Trx } from '../../../src/database/database.ts'
import {
  type Claim,
  claimHeads,
  handBack,
  markUnavailable,
  recordSendings,
  rememberSeen,
  renewClaims,
} from '../../../src/engine/claim/claim.ts'
import { endableSubjects, overdueSubjects } from '../../../src/engine/claim/subject-pages.ts'
import { recordEnds } from '../../../src/engine/finish/finish.ts'
import { ORIGINS } from '../../../src/engine/origin.ts'
import { newId } from '../../../src/ids.ts'
import { listOperations } from '../../../src/operations/reading/find-operations.ts'
import { buffersOf } from '../../support/database/buffers.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { openKeptPlans } from '../../support/database/kept-plans.ts'

const WAITING = 10_000
/** A few dozen index and table pages; scanning the backlog would touch thousands. */
const MAX_BUFFERS = 300
/** A few steps down an index, the row, and what a write does to each of its indexes. */
const MAX_BUFFERS_EACH = 80
const ONE_DAY_SECONDS = 86_400

t.test('no statement of the engine scans the 10,000 operations that wait on one loan', async t => {
  const { url, db } = await freshDatabase(t)
  await addWaiting(db, WAITING)
  const worker = newId()
  const statements: Record<string, (db: Database) => Promise<unknown>> = {
    'a claim on the hot loan': db => claimHeads(db, worker, ['loan:HOT']),
    'claims on others': db => claimHeads(db, worker, ['loan:L-1', 'loan:L-2', 'client:C']),
    'the sweep': db => overdueSubjects(db, ORIGINS, 200),
    'the sweep for what ends without the ledger': db =>
      endableSubjects(ONE_DAY_SECONDS)(db, ORIGINS, 200),
    'why it waits while the ledger is down': db => markUnavailable(db, ['loan:HOT'], 'down'),
    'whom a client’s end wakes': db => claimHeads(db, worker, [], { endedClients: ['client:C'] }),
    'the list of one loan': db => listOperations(db, { external_id: 'HOT', limit: 10 }),
    'why the newest of it waits': db =>
      sql`
          select * from ops.operation where external_id = 'HOT' order by seq desc
           limit 1`.execute(db),
  }
  for (const [what, run] of Object.entries(statements)) {
    for (const { statement, buffers } of await buffersOf(url, run))
      t.ok(buffers < MAX_BUFFERS, `${what} touches ${buffers} pages: ${statement}`)
  }
})

t.test(
  'no statement scans the operations of other loans, even with statistics from when none were waiting',
  async t => {
    const { url, db } = await freshDatabase(t)
    await addFinished(db, 2_000)
    await addLoans(db, 5_000)
    const worker = newId()
    const { claims } = await claimHeads(db, worker, loans(3_001, 3_030))
    t.equal(claims.length, 30)
    const done = { status: 'success', response: {} } as const
    const [claim] = claims as [Claim]
    const ended = claims.map(claim => ({ claim, key: '', answer: null, decision: done }))
    const statements: Record<string, (db: Database) => Promise<unknown>> = {
      claims: db => claimHeads(db, worker, loans(4_001, 4_030)),
      'their sendings': db => recordSendings(db, worker, claims),
      'their renewal': db => renewClaims(db, worker, claims),
      'what was seen': db => rememberSeen(db, claim, {}),
      'a handing back': db => handBack(db, claim),
      'their ends': db => recordEnds(db as Trx, ended),
      'why they wait while the ledger is down': db =>
        markUnavailable(db, loans(4_001, 4_030), 'down'),
      'whom a client’s end wakes': db =>
        claimHeads(db, worker, [], { endedClients: ['client:C-77'] }),
    }
    for (const [what, run] of Object.entries(statements)) {
      for (const { statement, buffers } of await buffersOf(url, run))
        t.ok(
          buffers < claims.length * MAX_BUFFERS_EACH,
          `${what} touch ${buffers} pages: ${statement}`,
        )
    }
  },
)

t.test('a plan made while the tables were empty touches few pages when they are full', async t => {
  const { url, db } = await freshDatabase(t)
  const kept = openKeptPlans(url)
  t.teardown(() => kept.db.destroy())
  const worker = newId()
  const done = { status: 'success', response: {} } as const
  const endsOf = (claims: Claim[]) =>
    claims.map(claim => ({ claim, key: '', answer: null, decision: done }))
  await addLoans(db, 1)
  const { claims: first } = await claimHeads(kept.db, worker, ['loan:L-1'], {
    endedClients: ['client:C-1'],
  })
  t.equal(first.length, 1)
  await recordSendings(kept.db, worker, first)
  await recordEnds(kept.db, endsOf(first))

  await addLoans(db, 5_000)
  await addAttempts(db)
  const { claims } = await claimHeads(db, worker, loans(3_001, 3_030))
  const statements: Record<string, (db: Database) => Promise<unknown>> = {
    claims: db => claimHeads(db, worker, loans(4_001, 4_030)),
    'their sendings': db => recordSendings(db, worker, claims),
    'their ends': db => recordEnds(db, endsOf(claims)),
    'whom a client’s end wakes': db =>
      claimHeads(db, worker, [], { endedClients: ['client:C-77'] }),
  }
  for (const [what, run] of Object.entries(statements)) {
    const buffers = await kept.buffersOf(run)
    t.ok(
      buffers > 0 && buffers < claims.length * MAX_BUFFERS_EACH,
      `${what} touch ${buffers} pages`,
    )
  }
})

const loans = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => `loan:L-${first + i}`)

async function addFinished(db: Database, count: number) {
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, processed_at)
    select gen_random_uuid(), 'LOAN_UPDATE', 'api', 'loan:F-' || n, 'F-' || n, '{}', 'success', now()
      from generate_series(1, ${count}) n`.execute(db)
  await sql`vacuum analyze loanops.operation`.execute(db)
}

async function addLoans(db: Database, count: number) {
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, waits_for, external_id, data)
    select gen_random_uuid(), 'LOAN_CREATE', 'api', 'loan:L-' || n, 'client:C-' || n, 'L-' || n, '{}'
      from generate_series(1, ${count}) n`.execute(db)
}

async function addAttempts(db: Database) {
  await sql`
    insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, outcome)
    select id, n, now(), now(), 'unknown' from loanops.operation cross
     join generate_series(101, 104) n`.execute(db)
}

async function addWaiting(db: Database, count: number) {
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data)
    select gen_random_uuid(), 'LOAN_UPDATE', 'api', 'loan:HOT', 'HOT', '{}'
     from generate_series(1, ${count})`.execute(db)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, waits_for, external_id, data)
    select gen_random_uuid(), 'LOAN_CREATE', 'api', 'loan:L-' || n, 'client:C', 'L-' || n, '{}'
     from generate_series(1, 20) n`.execute(db)
  await sql`analyze loanops.operation`.execute(db)
}
