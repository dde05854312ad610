import { type Queue, WATCHED } from '../queue/queue.ts'
import type { PaymentEvent } from './payment-event.ts'

/** Longer than anybody looks away: a job that waits for its worker must not be tidied up. */
const TEN_YEARS_SECONDS = 315_360_000

/** Events that nothing could save, with what they raised: kept until `ops.redrive` puts them back to work. */
export const deadEventQueue: Queue<{ events: PaymentEvent[]; error?: object }> = {
  name: 'payment-event-dead',
  options: { policy: 'standard', retentionSeconds: TEN_YEARS_SECONDS },
  work: {},
}

/** Events on their way into their raw tables, many in one job: a job for each would cost as much as the event. */
export const eventQueue: Queue<{ events: PaymentEvent[] }> = {
  name: 'payment-event',
  options: {
    policy: 'standard',
    partition: true,
    notify: true,
    // Only a database in trouble makes it fail: with back-off up to ten minutes this lasts for three hours.
    retryLimit: 30,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 600,
    expireInSeconds: 300,
    // The shortest that pg-boss allows for: a dead worker's events are saved by another within 15 s.
    heartbeatSeconds: 10,
    retentionSeconds: TEN_YEARS_SECONDS,
    // What is saved stands in its raw table; the copy here would only double the disk.
    deleteAfterSeconds: 60,
    deadLetter: deadEventQueue.name,
  },
  work: {
    // Each job is SQL for up to 256 events already.
    batchSize: 4,
    // Two keep up with the door: each takes a thousand events and more in one transaction.
    localConcurrency: 2,
    burstWhenBatchFull: true,
    ...WATCHED,
  },
}

/** A wake-up: a batch run may wait to be started, or is due by the schedule. Who may run it stands in core.batch_run. */
export const batchQueue: Queue<{ trigger?: 'schedule' }> = {
  name: 'payment-batch',
  options: {
    policy: 'standard',
    notify: true,
    // Until it is due again: only a database in trouble keeps a scheduled run from being asked for.
    retryLimit: 360,
    retryDelay: 5,
    // It is done as soon as the run is asked for.
    expireInSeconds: 60,
    // The shortest that pg-boss allows for.
    heartbeatSeconds: 10,
    retentionSeconds: TEN_YEARS_SECONDS,
    deleteAfterSeconds: 3_600,
  },
  work: { batchSize: 1, ...WATCHED },
}
