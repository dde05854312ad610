import { sql } from 'kysely'
import type { Database, Trx } from '../../src/database/database.ts'
import { newOperation } from '../../src/engine/accept.ts'
import { claimHeads, renewClaims } from '../../src/engine/claim/claim.ts'
import { overdueSubjects } from '../../src/engine/claim/subject-pages.ts'
import { ORIGINS } from '../../src/engine/origin.ts'
import { newId } from '../../src/ids.ts'
import { clientCreate } from '../../src/operations/client-create.ts'
import { findOperation, listOperations } from '../../src/operations/reading/find-operations.ts'
import { buffersOf } from '../support/database/buffers.ts'
import { clientData } from '../support/ledger/loans.ts'
import type { Stage } from './stage.ts'

const PER_STATEMENT = 250_000

/** Finished operations with one attempt each, like those left by years of operation. */
export async function addHistory({ db }: Stage, count: number): Promise<void> {
  for (let from = 0; from < count; from += PER_STATEMENT) {
    await db.transaction().execute(async trx => {
      await sql`set local statement_timeout = 0`.execute(trx)
      // The attempts belong to these very rows: looking each up again would take longer than everything else.
      await sql`set local session_replication_role = replica`.execute(trx)
      await addFinished(trx, from)
    })
  }
  await db.connection().execute(async connection => {
    await sql`set statement_timeout = 0`.execute(connection)
    await sql`vacuum analyze loanops.operation, loanops.operation_attempt`.execute(connection)
    await sql`reset statement_timeout`.execute(connection)
  })
}

/** Adds operations with ascending ids, like real ones. */
async function addFinished(trx: Trx, from: number): Promise<void> {
  await sql`
    with added as (
      insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, attempt, attempts,
        response, accepted_at, processed_at)
      select (lpad(to_hex(n), 12, '0') || '70008000000000000000')::uuid, 'CLIENT_CREATE', 'api', 'client:H-' || n,
             'H-' || n, '{"firstname":"Asha"}', 'success', 1, 1, '{"clientId":1}', now() - interval '1 day',
             now() - interval '1 day'
        from generate_series(${from + 1}::bigint, ${from + PER_STATEMENT}) n
      returning id
    )
    insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, outcome)
    select id, 1, now(), now(), 'done' from added`.execute(trx)
}

/** The pages touched by each statement in an operation's life. */
export async function pagesPerStatement(stage: Stage): Promise<Map<string, number>> {
  const worker = newId()
  const claim = { id: newId(), number: 1 } as Parameters<typeof renewClaims>[2][number]
  const row = newOperation(clientCreate, clientData('C-X'), null)
  const statements: Record<string, (db: Database) => Promise<unknown>> = {
    insert: db =>
      sql`insert into loanops.operation (id, operation_type, origin, subject, external_id, data)
        values (${row.id}, ${row.operationType}, 'api', ${row.subject}, ${row.externalId}, '{}')`.execute(
        db,
      ),
    claim: db => claimHeads(db, worker, ['client:C-X', 'loan:L-X']),
    renew: db => renewClaims(db, worker, [claim]),
    sweep: db => overdueSubjects(db, ORIGINS, 200),
    wake: db => claimHeads(db, worker, [], { endedClients: ['client:C-X'] }),
    track: db => findOperation(db, { operationType: 'CLIENT_CREATE', id: row.id }),
    'list of one': db => listOperations(db, { external_id: 'H-1', limit: 50 }),
    'list of processing': db => listOperations(db, { status: 'processing', limit: 50 }),
    'list of failed': db => listOperations(db, { status: 'failed', limit: 50 }),
    stuck: db => sql`select * from ops.operation_stuck`.execute(db),
    'by tracking id': db =>
      sql`select * from ops.operation where tracking_id = ${`CLIENT_CREATE|${row.id}`}`.execute(db),
  }
  const pages = new Map<string, number>()
  for (const [name, run] of Object.entries(statements)) {
    const touched = await buffersOf(stage.databaseUrl, run)
    pages.set(
      name,
      touched.reduce((sum, { buffers }) => sum + buffers, 0),
    )
  }
  return pages
}
