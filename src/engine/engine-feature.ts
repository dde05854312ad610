import type { Feature } from './feature.ts'
import { runOperations } from './job.ts'
import { bulkQueue, liveQueue } from './queue.ts'

export const engineFeature: Feature = {
  queues: [liveQueue, bulkQueue],
  jobs: [runOperations],
  async onFinal(_, ended, metrics) {
    for (const { claim, decision } of ended)
      metrics.operations.inc({ operation_type: claim.operationType, status: decision.status })
  },
}
