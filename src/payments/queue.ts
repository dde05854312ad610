import { type Queue, WATCHED } from '../queue/queue.ts'
import { runQueue, TEN_YEARS_SECONDS } from '../queue/run-queue.ts'
import type { PaymentEvent } from './payment-event.ts'

/** Events that could not be saved, each with its error: kept until `ops.redrive` puts them back into their queue. */
export const deadEventQueue: Queue<{ events: PaymentEvent[]; error?: object }> = {
  name: 'payment-event-dead',
  options: {
    policy: 'standard',
    // This is the only copy of these events: pg-boss must never delete it, however long nobody looks.
    retentionSeconds: TEN_YEARS_SECONDS,
  },
  // Nobody works this queue: its jobs wait for an operator.
  work: {},
}

/** A job has many events: a job for each would cost as much as the event itself. */
export const eventQueue: Queue<{ events: PaymentEvent[] }> = {
  name: 'payment-event',
  options: {
    policy: 'standard',
    // The queue has a table of its own: a flood of webhooks must not slow down other queues.
    partition: true,
    // Intake wakes the workers after its commit.
    notify: false,
    // A job fails only while the database is in trouble: with back-off up to ten minutes, 30 retries last three hours.
    retryLimit: 30,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 600,
    // A thousand events are saved within a second; this time is for a database that is nearly at a standstill.
    expireInSeconds: 300,
    // This is the shortest heartbeat that pg-boss allows: another worker saves a dead worker's events within 15 s.
    heartbeatSeconds: 10,
    // Until they are saved, this is the only copy of the events.
    retentionSeconds: TEN_YEARS_SECONDS,
    // Saved events are in their raw tables; keeping the copy would only double the disk space.
    deleteAfterSeconds: 60,
    deadLetter: deadEventQueue.name,
  },
  work: {
    // Each job is SQL for up to 256 events already.
    batchSize: 4,
    // Two loops keep up with the webhooks: each saves a thousand events and more in one transaction.
    localConcurrency: 2,
    burstWhenBatchFull: true,
    ...WATCHED,
  },
}

export const batchQueue = runQueue('payment-batch')
