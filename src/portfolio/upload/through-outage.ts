import { setTimeout as pause } from 'node:timers/promises'
import { isTransient } from '../../database/database.ts'

/** Longer than a fail-over takes; then the caller had better hear of it. */
const OUTAGE_MS = 120_000
const TRY_AGAIN_MS = 500

/** Does what may be done twice, again and again while the database is not up to it. */
export async function throughOutage<T>(work: () => Promise<T>): Promise<T> {
  const until = Date.now() + OUTAGE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > until || !isTransient(error)) throw error
      await pause(TRY_AGAIN_MS)
    }
  }
}
