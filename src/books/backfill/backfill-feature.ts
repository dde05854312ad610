import { sql } from 'kysely'
import { Counter, type Registry } from 'prom-client'
import type { Feature } from '../../engine/feature.ts'
import { type Measured, measure } from '../../ops/measured.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'

export function backfillCounters(registers: Registry[]) {
  const missedPayments = new Counter({
    name: 'loanops_missed_payments_total',
    help: 'Captured payments that a gateway had and LoanOps did not, by gateway',
    labelNames: ['gateway'],
    registers,
  })
  // Prometheus sees no increase in the first figure of a series.
  for (const gateway of GATEWAYS) missedPayments.inc({ gateway }, 0)
  return { missedPayments }
}

const labels = ['gateway', 'lender']

const backfillGauges: Measured = {
  metrics: {
    behind: {
      name: 'loanops_gateway_behind_seconds',
      help: 'Age of the time up to which the payments of a source are fetched',
      labels,
    },
    is_silent: {
      name: 'loanops_gateway_silent',
      help: '1 while a source sends nothing although several events came at this time in each of the last weeks',
      labels,
    },
    has_error: {
      name: 'loanops_gateway_fetch_failing',
      help: '1 while the last fetch of a source has failed, is held up or has set aside what it could not read',
      labels,
    },
  },
  query: sql`
    select gateway, coalesce(lender, '') as lender, behind_seconds::float8 as behind, is_silent::integer,
           (last_error is not null)::integer as has_error
      from ops.gateway`,
}

export const backfillFeature = {
  gauges: [measure([backfillGauges])],
  counters: backfillCounters,
  crashPoints: ['backfill.claimed', 'backfill.saved', 'backfill.part-done', 'backfill.unended'],
} satisfies Feature
