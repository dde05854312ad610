import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { Conflict } from '../../http/problem.ts'
import { refuseConflictingRun } from './refuse-conflicting-run.ts'
import { lockRun } from './run-lock.ts'
import { migrationState, type RunState } from './start-run.ts'

export async function retryRun(db: Database, id: string, asker: Asker): Promise<RunState> {
  return inTransaction(db, async trx => {
    await lockRun(trx, id)
    const { status, type } = await migrationState(trx, id)
    if (status !== 'completed' && status !== 'cancelled')
      throw new Conflict(
        status === 'running' ? 'The migration is running' : 'The migration has not been run yet',
      )
    const { failed, stopped } = await putBack(trx, id)
    await refuseConflictingRun(trx, id, type)
    // The counts are reduced, not set: rows that were in progress at the cancel may fail, and be counted, right now.
    await sql`
      update loanops.migration
         set status = 'running', run = run + 1, is_dry_run = false, started_at = now(), ended_at = null,
             failed = failed - ${failed}::integer, stopped = stopped - ${stopped}::integer,
             ended_before = done + failed - ${failed}::integer + stopped - ${stopped}::integer
       where id = ${id}`.execute(trx)
    await audit(trx, { ...asker, action: 'migration.retry', subject: id })
    return { migration_id: id, status: 'running' }
  })
}

async function putBack(trx: Trx, id: string): Promise<{ failed: number; stopped: number }> {
  const { rows } = await sql<{ failed: number; stopped: number }>`
    with put_back as (
      update loanops.migration_row r set state = 'valid', reason = null
        from loanops.migration_row before
       where before.migration_id = ${id} and before.state in ('failed', 'stopped')
         and r.migration_id = before.migration_id and r.line = before.line
      returning before.state
    )
    select (count(*) filter (where state = 'failed'))::integer as failed,
           (count(*) filter (where state = 'stopped'))::integer as stopped
            from put_back`.execute(trx)
  return rows[0] ?? { failed: 0, stopped: 0 }
}
