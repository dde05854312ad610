import { type Queue, WATCHED } from '../queue/queue.ts'
import { laneOf, type Origin } from './origin.ts'

/** A wake-up: this subject may have work. What the work is, and its order, stands in loanops.operation. */
export type Wake = { subject: string }

const options = {
  policy: 'standard',
  // A table of its own: its rows come and go faster than all other queues' together.
  partition: true,
  notify: true,
  // A wake-up that fails is not missed: the sweep finds what it would have started.
  retryLimit: 2,
  // A wake-up is done as soon as its work is begun; only a full lane makes one wait.
  expireInSeconds: 600,
  heartbeatSeconds: 30,
  // Nobody reads a finished wake-up; it would only make the table longer.
  deleteAfterSeconds: 60,
} as const
const work = {
  // One fetch and one completion for so many: each costs as much as an operation of our own.
  batchSize: 32,
  burstWhenBatchFull: true,
  ...WATCHED,
} as const

// While one batch is completed, the next is fetched. Each of them asks when idle too.
export const liveQueue: Queue<Wake> = {
  name: 'operation',
  options,
  work: { ...work, localConcurrency: 2 },
}
/** Batches and migrations: a queue of their own, so that a live operation never stands behind thousands of theirs. One at a time: its lane waits for its slots anyway. */
export const bulkQueue: Queue<Wake> = { name: 'operation-bulk', options, work }

export const queueOf = (origin: Origin) => (laneOf(origin) === 'live' ? liveQueue : bulkQueue)
