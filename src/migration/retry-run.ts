import { sql } from 'kysely'
import { type Asker, audit } from '../accounts/audit.ts'
import type { Database } from '../database.ts'
import { Conflict } from '../problem.ts'
import { lockRun } from './run-lock.ts'
import { type RunState, stateOf } from './start-run.ts'

/** Takes up what failed, was stopped, or was left by a cancel. @throws NotFound, Conflict */
export async function retryRun(db: Database, id: string, asker: Asker): Promise<RunState> {
  return db.transaction().execute(async trx => {
    await lockRun(trx, id)
    const { status } = await stateOf(trx, id)
    if (status !== 'completed' && status !== 'cancelled')
      throw new Conflict(status === 'running' ? 'It runs' : 'It has not run yet')
    // A million failed rows are put back in one statement.
    await sql`set local statement_timeout = 0`.execute(trx)
    await sql`
      update loanops.migration_row set state = 'valid', reason = null
       where migration_id = ${id} and state in ('failed', 'stopped')`.execute(trx)
    await sql`
      update loanops.migration
         set status = 'running', run = run + 1, is_dry_run = false, started_at = now(), ended_at = null,
             failed = 0, stopped = 0, ended_before = done
       where id = ${id}`.execute(trx)
    await audit(trx, { ...asker, action: 'migration.retry', subject: id })
    return { migration_id: id, status: 'running' }
  })
}
