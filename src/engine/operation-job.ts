import type { PgBoss } from 'pg-boss'
import type { Lane } from '../ledger/slots/slots.ts'
import { type Job, together } from '../queue/job.ts'
import { type Queue, work } from '../queue/queue.ts'
import type { WorkerContext } from './feature.ts'
import { bulkQueue, liveQueue, type Wake } from './queue.ts'
import { type Runner, startRunner } from './runner.ts'

export async function runOperations(context: WorkerContext): Promise<Job> {
  const { db, boss, config, runnable } = context
  const runner = startRunner(db, boss, {
    ...context,
    catalogue: runnable,
    deadlineSeconds: config.OPERATION_DEADLINE_SECONDS,
  })
  const fetching = [
    await workWakes(boss, liveQueue, 'live', runner),
    await workWakes(boss, bulkQueue, 'bulk', runner),
  ]
  // The runner hands back whatever has been fetched.
  return together([runner, ...fetching])
}

function workWakes(boss: PgBoss, queue: Queue<Wake>, lane: Lane, runner: Runner): Promise<Job> {
  return work(boss, queue, async jobs => {
    await runner.work([...new Set(jobs.flatMap(({ data }) => data.subjects))], lane)
  })
}
