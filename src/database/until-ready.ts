import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { isTransient } from './transient.ts'

const ASK_EVERY_MS = 250
/** Longer than crash recovery takes for a database of this size; after that it is an outage, not a start. */
const READY_WITHIN_MS = 120_000

/** @param start is repeated from its beginning if the database is lost at any of its steps, so a failed one must undo itself */
export async function untilReady<T>(start: () => Promise<T>, log: Pick<Log, 'warn'>): Promise<T> {
  const until = performance.now() + READY_WITHIN_MS
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await start()
    } catch (error) {
      if (performance.now() > until || !isTransient(error)) throw error
      if (isFirst) log.warn({ reason: (error as Error).message }, 'waiting for the database')
      await sleep(ASK_EVERY_MS)
    }
  }
}
