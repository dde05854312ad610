import type { Feature } from '../../engine/feature.ts'
import { purgeBulks } from './purge-bulks.ts'

export const BULK_CRASH_POINTS = ['bulk.decided', 'bulk.recorded'] as const

export const bulkFeature: Feature = {
  crashPoints: BULK_CRASH_POINTS,
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'bulks', run: purgeBulks },
}
