import type { Feature } from '../engine/feature.ts'
import { purgeOperations } from './purge.ts'
import { runPurges } from './purge-job.ts'
import { purgeQueue } from './purge-queue.ts'

export const operationsFeature: Feature = {
  queues: [purgeQueue],
  jobs: [runPurges],
  async onPurge(db, { operations }) {
    return operations === 0 ? {} : { operations: await purgeOperations(db, operations) }
  },
}
