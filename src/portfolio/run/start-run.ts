import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { rowById } from '../../http/lists/row-by-id.ts'
import { Conflict } from '../../http/problem.ts'
import type { MigrationRecord, Started } from '../migration-record.ts'
import { refuseConflictingRun } from './refuse-conflicting-run.ts'
import { lockRun } from './run-lock.ts'

type RunRequest = { migrationId: string; isDryRun: boolean; skipInvalid: boolean; after: string[] }
export type RunState = Static<typeof Started>

/** Starts a run; a completed migration stays as it is. @throws NotFound, Conflict */
export async function startRun(db: Database, request: RunRequest, asker: Asker): Promise<RunState> {
  const { migrationId: id, isDryRun, skipInvalid, after } = request
  return inTransaction(db, async trx => {
    await lockRun(trx, id)
    const { status, type, invalidRows } = await migrationState(trx, id)
    if (status === 'running') throw new Conflict('The migration is already running')
    if (isDryRun && status !== 'uploaded')
      throw new Conflict(
        `The migration is ${status}: a dry run is only possible before the first run`,
      )
    if (invalidRows > 0 && !skipInvalid) {
      throw new Conflict(
        `The file has invalid rows (${invalidRows}): correct them (errors.csv), or set skip_invalid to run the others`,
      )
    }
    if (status === 'completed') return { migration_id: id, status }
    if (isDryRun) await prepareDryRun(trx, id, after)
    else await refuseConflictingRun(trx, id, type)
    await sql`
      update loanops.migration
         set status = 'running', is_dry_run = ${isDryRun}, run = run + (not ${isDryRun})::integer,
             started_at = now(), ended_at = null, ended_before = done + failed + stopped
       where id = ${id}`.execute(trx)
    await audit(trx, {
      ...asker,
      action: isDryRun ? 'migration.dry_run' : 'migration.run',
      subject: id,
      detail: { skip_invalid: skipInvalid },
    })
    return { migration_id: id, status: 'running' }
  })
}

type State = Pick<MigrationRecord, 'status' | 'type'> & { invalidRows: number; isDryRun: boolean }

export function migrationState(trx: Trx, id: string) {
  const state = sql<State>`
    select status, type, invalid_rows as "invalidRows", is_dry_run as "isDryRun"
      from loanops.migration where id = ${id} and status <> 'uploading'`
  return rowById(trx, id, `No migration ${id}`, state)
}

async function prepareDryRun(trx: Trx, id: string, after: string[]) {
  // Only a file's own dry run can tell which of its loans would be created.
  const { rows: notLookedAt } = await sql<{ id: string }>`
    select id from unnest(${after}::uuid[]) as named (id)
     where not exists (select from loanops.migration m
                        where m.id = named.id and m.dry_run is not null)`.execute(trx)
  if (notLookedAt[0]) throw new Conflict(`Start a dry run of migration ${notLookedAt[0].id} first`)
  await sql`
    update loanops.migration_row set finding = null, finding_reason = null
     where migration_id = ${id} and finding is not null`.execute(trx)
  await sql`
    update loanops.migration
       set dry_run = null, looked_up_to = null, looked_at = 0, dry_run_after = ${after}
     where id = ${id}`.execute(trx)
}
