import type { Feature } from '../../engine/feature.ts'
import { purgeBulks } from './purge-bulks.ts'

export const BULK_CRASH_POINTS = ['bulk.decided', 'bulk.recorded'] as const

export const bulkFeature: Feature = {
  crashPoints: BULK_CRASH_POINTS,
  async onPurge(db, { OPERATION_RETENTION_DAYS: days }) {
    return days === 0 ? {} : { bulks: await purgeBulks(db, days) }
  },
}
