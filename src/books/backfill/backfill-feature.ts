import type { Feature } from '../../engine/feature.ts'
import { measure } from '../../ops/measured.ts'
import { backfillCounters } from './backfill-counters.ts'
import { backfillGauges } from './backfill-gauges.ts'
import { BACKFILL_CRASH_POINTS } from './crash-points.ts'

export const backfillFeature: Feature = {
  gauges: [measure([backfillGauges])],
  counters: backfillCounters,
  crashPoints: BACKFILL_CRASH_POINTS,
}
