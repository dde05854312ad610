import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import { Conflict } from '../../http/problem.ts'
import { lockRun } from '../run/run-lock.ts'
import { migrationState } from '../run/start-run.ts'

/** Its rows, which may be millions, are left for the caller to delete. @throws NotFound, Conflict */
export async function discard(db: Database, id: string, asker: Asker): Promise<void> {
  await inTransaction(db, async trx => {
    await lockRun(trx, id)
    const { status, type } = await migrationState(trx, id)
    if (status === 'running') throw new Conflict('The migration is running: cancel it first')
    const { rows: begun } = await sql`
      select from loanops.migration_step where migration_id = ${id} limit 1`.execute(trx)
    if (status === 'completed' || begun.length > 0)
      throw new Conflict('The migration has been run, so the results of its rows are kept')
    await sql`delete from loanops.migration where id = ${id}`.execute(trx)
    await audit(trx, { ...asker, action: 'migration.discard', subject: id, detail: { type } })
  })
}
