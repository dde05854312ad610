import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { purgeAll } from '../database/purge-in-steps.ts'

export function purgeCallbacks(db: Database, retentionDays: number): Promise<number> {
  return purgeAll(async most => {
    const { numAffectedRows } = await sql`
      delete from loanops.callback
       where id in (
         select id from loanops.callback
          where created_at < now() - ${retentionDays} * interval '1 day' and state <> 'pending'
          order by created_at limit ${most} for update skip locked)`.execute(db)
    return Number(numAffectedRows)
  })
}
