import type { PgBoss } from 'pg-boss'
import type { Lane } from '../ledger/slots.ts'
import { type Queue, work } from '../queue/queue.ts'
import { liveQueue, type Wake } from './queue.ts'
import type { Runner } from './runner.ts'

/** Each wake-up begins its subject's work. */
export function workOperations(boss: PgBoss, queue: Queue<Wake>, runner: Runner): Promise<void> {
  const lane: Lane = queue === liveQueue ? 'live' : 'bulk'
  return work(boss, queue, async jobs => {
    await runner.work([...new Set(jobs.map(({ data }) => data.subject))], lane)
  })
}
