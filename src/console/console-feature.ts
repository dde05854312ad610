import type { Feature } from '../engine/feature.ts'
import { BULK_CRASH_POINTS } from './bulk/crash-points.ts'

/** A worker carries out bulk decisions, whichever process took them. */
export const consoleFeature: Feature = { crashPoints: BULK_CRASH_POINTS }
