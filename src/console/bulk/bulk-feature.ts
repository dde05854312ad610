import { sql } from 'kysely'
import { purgeBy } from '../../database/purge-in-steps.ts'
import type { Feature } from '../../engine/feature.ts'

/** Each has up to ten thousand items. */
const BULKS_AT_ONCE = 1

/** Deletes bulk decisions that ended before the retention period, with their items. */
export const purgeBulks = purgeBy(
  (retentionDays, most) => sql`
    with old as (
      select id from loanops.bulk
       where status <> 'running' and id < core.first_id_at(now() - ${retentionDays} * interval '1 day')
         and ended_at < now() - ${retentionDays} * interval '1 day'
       order by id limit ${most} for update skip locked
    ), items as (
      delete from loanops.bulk_item i using old where i.bulk_id = old.id
    )
    delete from loanops.bulk b using old where b.id = old.id`,
  BULKS_AT_ONCE,
)

export const bulkFeature = {
  crashPoints: ['bulk.decided', 'bulk.recorded'],
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'bulks', run: purgeBulks },
} satisfies Feature
