import type { Feature } from '../../engine/feature.ts'
import { backfillCounters } from './backfill-counters.ts'
import { backfillGauges } from './backfill-gauges.ts'
import { BACKFILL_CRASH_POINTS } from './crash-points.ts'

export const backfillFeature: Feature = {
  gauges: [({ metrics, patient, log }) => backfillGauges(metrics.registry, patient, log)],
  counters: backfillCounters,
  crashPoints: BACKFILL_CRASH_POINTS,
}
