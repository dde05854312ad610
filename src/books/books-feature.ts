import type { Feature } from '../engine/feature.ts'
import { READBACK_CRASH_POINTS } from './crash-points.ts'
import { readbackCounters } from './readback-counters.ts'
import { readbackGauges } from './readback-gauges.ts'

export const booksFeature: Feature = {
  gauges: [readbackGauges],
  counters: readbackCounters,
  crashPoints: READBACK_CRASH_POINTS,
}
