import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** Few enough rows that nobody notices their locks. */
const ROWS_PER_STATEMENT = 500

export async function purgeCallbacks(db: Database, retentionDays: number): Promise<number> {
  for (let purged = 0; ; ) {
    const { numAffectedRows } = await sql`
      delete from loanops.callback
       where id in (
         select id from loanops.callback
          where created_at < now() - ${retentionDays} * interval '1 day' and state <> 'pending'
          order by created_at limit ${ROWS_PER_STATEMENT} for update skip locked)`.execute(db)
    purged += Number(numAffectedRows)
    if (Number(numAffectedRows) < ROWS_PER_STATEMENT) return purged
  }
}
