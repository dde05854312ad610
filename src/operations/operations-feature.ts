import type { Feature } from '../engine/feature.ts'
import { runPurges } from './purge-job.ts'
import { purgeQueue } from './purge-queue.ts'

export const operationsFeature: Feature = {
  queues: [purgeQueue],
  jobs: [runPurges],
}
