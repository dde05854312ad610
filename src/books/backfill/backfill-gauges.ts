import { sql } from 'kysely'
import type { Measured } from '../../ops/measured.ts'

const labels = ['gateway', 'lender']

export const backfillGauges: Measured = {
  metrics: {
    behind: {
      name: 'loanops_gateway_behind_seconds',
      help: 'Age of the time up to which the payments of a source are fetched',
      labels,
    },
    is_silent: {
      name: 'loanops_gateway_silent',
      help: '1 while a source sends nothing, where in each of the last weeks several events came',
      labels,
    },
    has_error: {
      name: 'loanops_gateway_fetch_failing',
      help: '1 while the last fetch of a source has failed or is held up',
      labels,
    },
  },
  query: sql`
    select gateway, coalesce(lender, '') as lender, behind_seconds::float8 as behind, is_silent::integer,
           (last_error is not null)::integer as has_error
      from ops.gateway`,
}
