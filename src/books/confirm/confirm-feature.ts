import type { Feature } from '../../engine/feature.ts'
import { measure } from '../../ops/measured.ts'
import { confirmGauges } from './confirm-gauges.ts'
import { CONFIRM_CRASH_POINTS } from './crash-points.ts'

export const confirmFeature: Feature = {
  gauges: [measure([confirmGauges])],
  crashPoints: CONFIRM_CRASH_POINTS,
}
