import { sql } from 'kysely'
import type { Measured } from '../ops/measured.ts'

/** A higher count would say nothing more, and take longer. */
const MAX_COUNTED = 100_000

export const callbackGauges: Measured = {
  metrics: {
    pending: {
      name: 'loanops_callbacks_pending',
      help: `Callbacks that are not delivered yet, counted up to ${MAX_COUNTED}`,
    },
    failed: {
      name: 'loanops_callbacks_failed',
      help: `Callbacks whose retries are used up, counted up to ${MAX_COUNTED}`,
    },
    oldest: { name: 'loanops_callback_lag_seconds', help: 'Age of the oldest pending callback' },
    is_down: {
      name: 'loanops_callback_receiver_down',
      help: '1 while the receiver of callbacks fails, or after it answered 410',
    },
  },
  query: sql`
    select p.pending, p.oldest, f.failed, (loanops.receiver_state(r) <> 'up')::integer as is_down
      from loanops.callback_receiver r
     cross join lateral (
       select count(*)::integer as pending, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest
         from (select created_at from loanops.callback where state = 'pending' limit ${MAX_COUNTED}) one) p
     cross join lateral (
       select count(*)::integer as failed
         from (select from loanops.callback where state = 'failed' limit ${MAX_COUNTED}) one) f`,
}
