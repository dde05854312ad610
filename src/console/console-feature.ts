import type { Feature } from '../engine/feature.ts'
import { BULK_CRASH_POINTS } from './bulk/crash-points.ts'
import { workBulks } from './bulk/work-bulks.ts'

/** A worker carries out bulk decisions, whichever process took them. */
export const consoleFeature: Feature = { jobs: [workBulks], crashPoints: BULK_CRASH_POINTS }
