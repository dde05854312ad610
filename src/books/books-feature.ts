import type { Feature } from '../engine/feature.ts'
import { measure } from '../ops/measured.ts'
import { READBACK_CRASH_POINTS } from './readback/crash-points.ts'
import { readbackCounters } from './readback/readback-counters.ts'
import { readbackGauges } from './readback/readback-gauges.ts'

export const booksFeature: Feature = {
  gauges: [measure([readbackGauges])],
  counters: readbackCounters,
  crashPoints: READBACK_CRASH_POINTS,
}
