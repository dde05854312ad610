import { sql } from 'kysely'
import { type ActCall, type Facts, factsAbout } from '../accounts/approvals/act-call.ts'
import type { Act } from '../config/acts.ts'
import type { Database, Trx } from '../database/database.ts'
import { rowById } from '../http/lists/row-by-id.ts'
import { retryRun } from './run/retry-run.ts'
import { lockRun } from './run/run-lock.ts'
import { type RunState, startRun } from './run/start-run.ts'
import { discard } from './upload/discard.ts'

type Run = { migration_id: string; dry_run: boolean; skip_invalid: boolean; after: string[] }
type One = { id: string }
/** `forRuns` is for statements that may take long. */
type Context = { forRuns: Database; deletion: { add(id: string): void } }

export function portfolioCalls({ forRuns, deletion }: Context) {
  const answer = async (_: object, state: RunState) => ({ status: 202, body: state })

  const runCall: ActCall<Run, undefined, RunState> = {
    name: 'portfolio.run',
    db: forRuns,
    acts: ['portfolio.run'],
    // A dry run only reads.
    actsOf: ({ dry_run }) => (dry_run ? [] : ['portfolio.run']),
    factsOf: (trx, { migration_id }) => migrationFacts(trx, migration_id, 'portfolio.run'),
    act: (db, asker, { migration_id: migrationId, dry_run, skip_invalid, after }) =>
      startRun(db, { migrationId, isDryRun: dry_run, skipInvalid: skip_invalid, after }, asker),
    answer,
  }

  const retryCall: ActCall<One, undefined, RunState> = {
    name: 'portfolio.retry',
    db: forRuns,
    acts: ['portfolio.run'],
    factsOf: (trx, { id }) => migrationFacts(trx, id, 'portfolio.run'),
    act: (db, asker, { id }) => retryRun(db, id, asker),
    answer,
  }

  const discardCall: ActCall<One, undefined, void> = {
    name: 'portfolio.discard',
    acts: ['portfolio.discard'],
    factsOf: (trx, { id }) => migrationFacts(trx, id, 'portfolio.discard'),
    act: (db, asker, { id }) => discard(db, id, asker),
    finish: async ({ id }) => deletion.add(id),
    answer: async () => ({ status: 204, body: null }),
  }
  return { runCall, retryCall, discardCall }
}

async function migrationFacts(trx: Trx, id: string, act: Act): Promise<Facts> {
  await lockRun(trx, id)
  // A dry run changes nothing in the file, and the approver may start one to decide by.
  const file = sql<{ status: string; run: number; sha256: string | null }>`
    select type, case when is_dry_run and status = 'running' then 'uploaded' else status end as status, file_name,
           encode(file_sha256, 'hex') as sha256, run, rows, valid_rows, invalid_rows
      from loanops.migration where id = ${id} and status <> 'uploading'`
  const { run, ...shown } = await rowById(trx, id, `No migration ${id}`, file)
  return factsAbout(act, id, shown, [shown.sha256, shown.status, run])
}
