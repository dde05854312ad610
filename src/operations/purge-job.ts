import type { WorkerContext } from '../engine/feature.ts'
import type { Job } from '../queue/job.ts'
import { work } from '../queue/queue.ts'
import { keepDaysOf, purgeQueue, schedulePurge } from './purge-queue.ts'

export async function runPurges(context: WorkerContext): Promise<Job> {
  const { patient, boss, config, log } = context
  await schedulePurge(boss, config)
  return work(boss, purgeQueue, async () => {
    // The job may have been queued before a setting was switched off.
    const purged = await context.onPurge(patient, keepDaysOf(config))
    log.info({ purged }, 'expired records purged')
  })
}
