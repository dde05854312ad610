import { sql } from 'kysely'
import type { Feature } from '../../engine/feature.ts'
import { type Measured, measure } from '../../ops/measured.ts'

const confirmGauges: Measured = {
  metrics: {
    count: {
      name: 'loanops_payments_waiting_for_gateway',
      help: 'Payments, refunds and chargebacks that their gateway is still to confirm',
      labels: ['gateway'],
    },
  },
  query: sql`select gateway, count(*) from core.question where said is null group by gateway`,
}

export const confirmFeature = {
  gauges: [measure([confirmGauges])],
  crashPoints: ['confirm.answered', 'confirm.saved'],
} satisfies Feature
