import { sql } from 'kysely'
import type { Measured } from '../../ops/measured.ts'

export const readbackGauges: Measured = {
  metrics: {
    age: {
      name: 'loanops_readback_age_seconds',
      help: 'Time since the last completed read-back or, before the first, since it was due',
    },
  },
  query: sql`
    select coalesce(extract(epoch from now() - coalesce(max(ended_at), min(requested_at))), 0)::float8 as age
      from core.readback_run`,
}
