import { sql } from 'kysely'
import { purgeBy } from '../database/purge-in-steps.ts'

export const purgeCallbacks = purgeBy(
  // For a failed callback, next_try_at is the end of its last attempt. The retention counts from there, because the
  // retries alone may have taken longer, and only then can it be replayed.
  (retentionDays, most) => sql`
    delete from loanops.callback
     where id in (
       select id from loanops.callback
        where created_at < now() - ${retentionDays} * interval '1 day' and state <> 'pending'
          and coalesce(delivered_at, next_try_at) < now() - ${retentionDays} * interval '1 day'
        order by created_at limit ${most} for update skip locked)`,
)
