import type { WorkerContext } from '../engine/feature.ts'
import type { Job } from '../queue/job.ts'
import { work } from '../queue/queue.ts'
import { purgeQueue, schedulePurge } from './queue.ts'

export async function runPurges(context: WorkerContext): Promise<Job> {
  const { boss, config, log, purges, patient } = context
  await schedulePurge(boss, config, purges)
  const stopping = new AbortController()
  const { signal } = stopping
  await work(boss, purgeQueue, async () => {
    const purged: Record<string, number> = {}
    const errors: unknown[] = []
    for (const { setting, kind, run } of purges)
      try {
        if (config[setting] > 0) purged[kind] = await run(patient, config[setting], signal)
      } catch (error) {
        log.error({ err: error }, 'a purge failed; continuing with the others')
        errors.push(error)
      }
    if (errors.length > 0) throw errors[0]
    log.info({ purged }, 'expired records purged')
    if (signal.aborted) throw new Error('stopped before the end; another worker continues')
  })
  return {
    async stop() {
      stopping.abort()
      // The queue must know of it before its connections are closed.
      await boss.offWork(purgeQueue.name, { wait: true })
    },
  }
}
