import { type Queue, WATCHED } from '../queue/queue.ts'
import { laneOf, type Origin } from './origin.ts'

/** A wake-up: these subjects may have work. What the work is, and in which order, is in loanops.operation. */
export type Wake = { subjects: string[] }

/**
 * A wake-up per operation would add a third to the rows that we write; one for more subjects would start all of their work on
 * one worker.
 */
const SUBJECTS_PER_WAKE = 16

const options = {
  policy: 'standard',
  // The queue has a table of its own: its rows come and go faster than those of all other queues together.
  partition: true,
  // Intake wakes the workers after its commit.
  notify: false,
  // Retries come at once, as there is no retryDelay: enough for a connection that broke. A wake-up that fails three times
  // does no harm: the sweep finds what it would have started.
  retryLimit: 2,
  // A wake-up is done once its work has started; only a full lane delays that, by minutes at most. One that expires is retried.
  expireInSeconds: 600,
  // This is not the shortest interval: each heartbeat is a write, and the sweep finds a dead worker's subjects sooner
  // than its jobs.
  heartbeatSeconds: 30,
  // Nobody reads a finished wake-up; it would only fill the table. Maintenance runs once a minute anyway.
  deleteAfterSeconds: 60,
} as const
const work = {
  // Together these wake-ups name no more subjects than a worker lets wait for slots; the others are left to other workers.
  batchSize: 2,
  // More is waiting behind a full batch.
  burstWhenBatchFull: true,
  ...WATCHED,
} as const

// While one batch is being completed, the next one is fetched. Each loop also polls when idle.
export const liveQueue: Queue<Wake> = {
  name: 'operation',
  options,
  work: { ...work, localConcurrency: 2 },
}
/**
 * A live operation never waits behind thousands from batches and migrations. One loop is enough, as the
 * lane waits for slots.
 */
export const bulkQueue: Queue<Wake> = { name: 'operation-bulk', options, work }

export function wakesOf(subjects: Iterable<string>, startAfter?: Date): WakeJob[] {
  const all = [...new Set(subjects)]
  const wakes = Array.from({ length: Math.ceil(all.length / SUBJECTS_PER_WAKE) }, (_, n) =>
    all.slice(n * SUBJECTS_PER_WAKE, (n + 1) * SUBJECTS_PER_WAKE),
  )
  return wakes.map(some => ({ data: { subjects: some }, ...(startAfter ? { startAfter } : {}) }))
}

type WakeJob = { data: Wake; startAfter?: Date }

export const queueOf = (origin: Origin) => (laneOf(origin) === 'live' ? liveQueue : bulkQueue)
