import type { Feature } from '../engine/feature.ts'
import { BULK_CRASH_POINTS } from './bulk/crash-points.ts'

export const consoleFeature: Feature = { crashPoints: BULK_CRASH_POINTS }
