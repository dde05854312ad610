import { type Queue, WATCHED } from '../../queue/queue.ts'

/** Longer than any outage: pg-boss must not delete a job that waits for its worker. */
const TEN_YEARS_SECONDS = 315_360_000

/** A wake-up: a fetch from a gateway may be waiting, or is due on schedule. core.backfill records who may run it. */
export const backfillQueue: Queue<{ trigger?: 'schedule' }> = {
  name: 'gateway-backfill',
  options: {
    policy: 'standard',
    notify: true,
    // Until the next one is due: only a database in trouble prevents a scheduled fetch from being requested.
    retryLimit: 360,
    retryDelay: 5,
    // The job ends as soon as the fetch is requested.
    expireInSeconds: 60,
    // The shortest that pg-boss allows.
    heartbeatSeconds: 10,
    retentionSeconds: TEN_YEARS_SECONDS,
    deleteAfterSeconds: 3_600,
  },
  work: { batchSize: 1, ...WATCHED },
}
