import { setTimeout as sleep } from 'node:timers/promises'
import { isTransient } from '../../database/transient.ts'

/** A failover takes less time. After this, the caller gets the error. */
const OUTAGE_MS = 120_000
const TRY_AGAIN_MS = 500

export async function throughOutage<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + OUTAGE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > until || !isTransient(error)) throw error
      await sleep(TRY_AGAIN_MS)
    }
  }
}
