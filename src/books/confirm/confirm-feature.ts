import { sql } from 'kysely'
import type { Feature } from '../../engine/feature.ts'
import { type Measured, measure } from '../../ops/measured.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'

const confirmGauges: Measured = {
  metrics: {
    count: {
      name: 'loanops_payments_waiting_for_gateway',
      help: 'Payments, refunds and chargebacks that their gateway is still to confirm',
      labels: ['gateway'],
    },
  },
  // A gateway of which nothing waits has a 0: without it, an alert about the last hours would see only those in which
  // something waited.
  query: sql`
    select g.name as gateway, count(q.gateway)
      from unnest(${GATEWAYS}::text[]) g (name)
      left join core.question q on q.gateway = g.name and q.said is null
     group by g.name`,
}

export const confirmFeature = {
  gauges: [measure([confirmGauges])],
  crashPoints: ['confirm.answered', 'confirm.saved'],
} satisfies Feature
