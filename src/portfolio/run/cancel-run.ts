import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { takeBackUnsent } from '../../engine/finish/take-back.ts'
import { Conflict } from '../../http/problem.ts'
import { lockRun } from './run-lock.ts'
import { migrationState, type RunState } from './start-run.ts'

/** Rows that are at the ledger, or may be, stay. @throws NotFound, Conflict */
export async function cancelRun(db: Database, id: string, asker: Asker): Promise<RunState> {
  return inTransaction(db, async trx => {
    await lockRun(trx, id)
    const { status, isDryRun } = await migrationState(trx, id)
    if (status !== 'running')
      throw new Conflict(`The migration cannot be cancelled, because its status is ${status}`)
    const next = isDryRun ? 'uploaded' : 'cancelled'
    if (!isDryRun) await takeBack(trx, id)
    await sql`
      update loanops.migration set status = ${next}, ended_at = clock_timestamp()
       where id = ${id}`.execute(trx)
    await audit(trx, { ...asker, action: 'migration.cancel', subject: id })
    return { migration_id: id, status: next }
  })
}

/** Rows are locked before operations, as when an operation ends. */
async function takeBack(trx: Trx, id: string) {
  await sql`
    select from loanops.migration_row
     where migration_id = ${id} and state = 'running' order by line for update`.execute(trx)
  await takeBackUnsent(
    trx,
    sql`select operation_id from loanops.migration_step where migration_id = ${id}`,
  )
  await sql`
    update loanops.migration_row r set state = 'valid'
     where migration_id = ${id} and state = 'running'
       and not exists (select from loanops.migration_step s
                         join loanops.operation o on o.id = s.operation_id
                        where s.migration_id = r.migration_id and s.line = r.line
                          and o.status = 'processing')`.execute(trx)
}
