import type { Feature } from '../../engine/feature.ts'
import { purgeBulks } from './purge-bulks.ts'

export const bulkFeature = {
  crashPoints: ['bulk.decided', 'bulk.recorded'],
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'bulks', run: purgeBulks },
} satisfies Feature
