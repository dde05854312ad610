import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { purgeInSteps } from '../database/purge-in-steps.ts'

/** Few enough rows that nobody notices their locks. */
const ROWS_PER_STATEMENT = 500

export function purgeCallbacks(db: Database, retentionDays: number): Promise<number> {
  return purgeInSteps(true, async () => {
    const { numAffectedRows } = await sql`
      delete from loanops.callback
       where id in (
         select id from loanops.callback
          where created_at < now() - ${retentionDays} * interval '1 day' and state <> 'pending'
          order by created_at limit ${ROWS_PER_STATEMENT} for update skip locked)`.execute(db)
    const purged = Number(numAffectedRows)
    return { purged, last: purged < ROWS_PER_STATEMENT ? null : true }
  })
}
