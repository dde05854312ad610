import { type Queue, WATCHED } from './queue.ts'

/** No outage lasts so long: pg-boss must not delete a job that waits for its worker. */
export const TEN_YEARS_SECONDS = 315_360_000

export function runQueue(name: string): Queue<{ trigger?: 'schedule' }> {
  return {
    name,
    options: {
      policy: 'standard',
      // Whoever inserts a job wakes the workers.
      notify: false,
      // Retries go on for half an hour: only a database in trouble prevents a scheduled run from being requested.
      retryLimit: 360,
      retryDelay: 5,
      // The job ends as soon as the run is requested.
      expireInSeconds: 60,
      // This is the shortest heartbeat that pg-boss allows.
      heartbeatSeconds: 10,
      retentionSeconds: TEN_YEARS_SECONDS,
      // An hour is long enough to look into a failed job; there are few of them.
      deleteAfterSeconds: 3_600,
    },
    work: WATCHED,
  }
}
