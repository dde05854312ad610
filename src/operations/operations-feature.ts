import type { Feature } from '../engine/feature.ts'
import { purgeOperations } from './purge.ts'

export const operationsFeature: Feature = {
  async onPurge(db, { OPERATION_RETENTION_DAYS: days }) {
    return days === 0 ? {} : { operations: await purgeOperations(db, days) }
  },
}
