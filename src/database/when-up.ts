import type { Log } from '../log/log.ts'
import { retry } from './retry.ts'
import { isConnectionRefused } from './transient.ts'

const RETRY_EVERY_MS = 250
/** Crash recovery takes less than this for a database of this size; after that it is an outage, not a start. */
const UP_WITHIN_MS = 120_000

/**
 * @param start retried from its beginning whenever the database is lost part-way, so a failed attempt must clean up after itself
 * @param stopping once it is aborted, nothing is started again
 */
export function whenUp<T>(
  start: () => Promise<T>,
  log: Pick<Log, 'warn'>,
  stopping?: AbortSignal,
): Promise<T> {
  let reported: string | undefined
  return retry(start, {
    withinMs: UP_WITHIN_MS,
    everyMs: RETRY_EVERY_MS,
    onRetry({ message: reason }) {
      if (reason !== reported) log.warn({ reason }, 'waiting for the database')
      reported = reason
    },
    stopping,
  }).catch(error => {
    if (!isConnectionRefused(error)) throw error
    throw new Error(`PostgreSQL at DATABASE_URL: ${error.message}`, { cause: error })
  })
}
