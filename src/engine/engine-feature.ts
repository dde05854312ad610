import { clockGauge, clockReport } from '../ops/clock.ts'
import { measure } from '../ops/measured.ts'
import { ENGINE_CRASH_POINTS, engineCounters, engineGauges } from './engine-signals.ts'
import type { Feature } from './feature.ts'
import { purgeAttempts } from './finish/purge-attempts.ts'

export const engineFeature: Feature = {
  gauges: [
    measure(engineGauges),
    ({ metrics, patient, log }) => clockGauge(metrics.registry, patient, log),
  ],
  report: clockReport,
  counters: engineCounters,
  crashPoints: ENGINE_CRASH_POINTS,
  purge: { setting: 'ATTEMPT_RETENTION_DAYS', kind: 'attempts', run: purgeAttempts },
  noteFinal(final, metrics) {
    const { operations } = metrics.of(engineCounters)
    for (const { claim, decision } of final)
      operations.inc({ operation_type: claim.operationType, status: decision.status })
  },
}
