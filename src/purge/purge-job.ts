import type { WorkerContext } from '../engine/feature.ts'
import type { Job } from '../queue/job.ts'
import { work } from '../queue/queue.ts'
import { purgeQueue, schedulePurge } from './queue.ts'

export async function runPurges(context: WorkerContext): Promise<Job> {
  const { boss, config, log } = context
  await schedulePurge(boss, config)
  return work(boss, purgeQueue, async () => {
    const purged = await context.onPurge()
    log.info({ purged }, 'expired records purged')
  })
}
