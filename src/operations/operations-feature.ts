import type { Feature } from '../engine/feature.ts'
import { purgeOperations } from './purge.ts'

export const operationsFeature: Feature = {
  async onPurge(db, { operations }) {
    return operations === 0 ? {} : { operations: await purgeOperations(db, operations) }
  },
}
