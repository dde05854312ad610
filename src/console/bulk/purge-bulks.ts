import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { purgeAll } from '../../database/purge-in-steps.ts'

/** Each has up to ten thousand items. */
const BULKS_AT_ONCE = 1

/** Deletes bulk decisions that ended before the retention period, with their items. */
export function purgeBulks(
  db: Database,
  retentionDays: number,
  stopping?: AbortSignal,
): Promise<number> {
  return purgeAll(
    async most => {
      const { numAffectedRows } = await sql`
      with old as (
        select id from loanops.bulk
         where status <> 'running' and id < core.first_id_at(now() - ${retentionDays} * interval '1 day')
           and ended_at < now() - ${retentionDays} * interval '1 day'
         order by id limit ${most} for update skip locked
      ), items as (
        delete from loanops.bulk_item i using old where i.bulk_id = old.id
      )
      delete from loanops.bulk b using old where b.id = old.id`.execute(db)
      return Number(numAffectedRows)
    },
    stopping,
    BULKS_AT_ONCE,
  )
}
