import { sql } from 'kysely'
import { Counter, type Registry } from 'prom-client'
import type { Feature } from '../../engine/feature.ts'
import { type Measured, measure } from '../../ops/measured.ts'
import type { Metrics } from '../../ops/metrics.ts'
import type { FindingCounts } from './record-findings.ts'

function readbackCounters(registers: Registry[]) {
  const found = new Counter({
    name: 'loanops_readback_found_total',
    help: 'Posted payments that were newly found reversed, missing or differing at the ledger',
    labelNames: ['finding'],
    registers,
  })
  // Prometheus sees no increase in the first figure of a series.
  for (const finding of ['reversed', 'missing', 'differing']) found.inc({ finding }, 0)
  return { found }
}

const readbackGauges: Measured = {
  metrics: {
    age: {
      name: 'loanops_readback_age_seconds',
      help: 'Time since the last completed read-back or, before the first, since it was due: since it was requested, or the oldest payment was posted',
    },
  },
  // Without a schedule, nothing is ever requested.
  query: sql`
    select coalesce(extract(epoch from now() - coalesce(max(ended_at), min(requested_at), (
             select posted_at from core.transaction where state = 'posted' order by posted_at limit 1))), 0)::float8 as age
      from core.readback_run`,
}

export const readbackFeature = {
  gauges: [measure([readbackGauges])],
  counters: readbackCounters,
  crashPoints: [
    'readback.claimed',
    'readback.read',
    'readback.recording',
    'readback.recorded',
    'readback.unended',
  ],
} satisfies Feature

export function countFound(metrics: Pick<Metrics, 'of'>) {
  const { found } = metrics.of(readbackCounters)
  return ({ reversed, missing, differing }: FindingCounts): void => {
    found.inc({ finding: 'reversed' }, reversed)
    found.inc({ finding: 'missing' }, missing)
    found.inc({ finding: 'differing' }, differing)
  }
}
