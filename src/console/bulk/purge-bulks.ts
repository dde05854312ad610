import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { purgeInSteps } from '../../database/purge-in-steps.ts'

/** Deletes the oldest bulk decision that ended so long ago, with up to ten thousand items, and so on. */
export function purgeBulks(db: Database, retentionDays: number): Promise<number> {
  return purgeInSteps(true, async () => {
    const { numAffectedRows } = await sql`
      with old as (
        select id from loanops.bulk
         where status <> 'running' and id < core.first_id_at(now() - ${retentionDays} * interval '1 day')
           and ended_at < now() - ${retentionDays} * interval '1 day'
         order by id limit 1 for update skip locked
      ), items as (
        delete from loanops.bulk_item i using old where i.bulk_id = old.id
      )
      delete from loanops.bulk b using old where b.id = old.id`.execute(db)
    return { purged: Number(numAffectedRows), last: numAffectedRows === 0n ? null : true }
  })
}
