import type { Feature } from '../../engine/feature.ts'

export const BULK_CRASH_POINTS = ['bulk.decided', 'bulk.recorded'] as const

export const bulkFeature: Feature = { crashPoints: BULK_CRASH_POINTS }
