import type { WorkerContext } from '../engine/feature.ts'
import type { Job } from '../queue/job.ts'
import { work } from '../queue/queue.ts'
import { purgeOperations } from './purge.ts'
import { purgeQueue, schedulePurge } from './purge-queue.ts'

/** Removes the personal data of old operations, on the schedule. */
export async function runPurges(context: WorkerContext): Promise<Job> {
  const { patient, boss, config, log } = context
  const { OPERATION_RETENTION_DAYS: retentionDays } = config
  await schedulePurge(boss, config)
  return work(boss, purgeQueue, async () => {
    // The job may have been queued before the setting was switched off.
    if (retentionDays === 0) return
    await context.onPurge(patient, retentionDays)
    const purged = await purgeOperations(patient, retentionDays)
    log.info({ purged }, 'personal data of finished operations purged')
  })
}
