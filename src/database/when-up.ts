import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { isTransient } from './transient.ts'

const RETRY_EVERY_MS = 250
/** Crash recovery takes less than this for a database of this size; after that it is an outage, not a start. */
const UP_WITHIN_MS = 120_000

/**
 * @param start retried from its beginning whenever the database is lost part-way, so a failed attempt must clean up after itself
 * @param stopping once it is aborted, nothing is started again
 */
export async function whenUp<T>(
  start: () => Promise<T>,
  log: Pick<Log, 'warn'>,
  stopping?: AbortSignal,
): Promise<T> {
  const until = performance.now() + UP_WITHIN_MS
  let reported: string | undefined
  for (;;) {
    try {
      return await start()
    } catch (error) {
      if (performance.now() > until || !isTransient(error)) throw error
      const { message: reason } = error as Error
      if (reason !== reported) log.warn({ reason }, 'waiting for the database')
      reported = reason
      await sleep(RETRY_EVERY_MS)
      if (stopping?.aborted) throw error
    }
  }
}
