import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { addressKey } from '../../http/connections/address-key.ts'
import { addressOf } from '../address.ts'

/** A misconfigured caller repeats a few calls; with more, somebody guesses. */
const FREE_FAILURES = 20
const WINDOW_MS = 60_000
const DELAY_MS = 1_000
/**
 * At most this many refusals are delayed at once, because each takes memory. As each is delayed for a second, this is also
 * the number of guesses per second.
 */
const MAX_WAITING = 1_000
const MAX_ADDRESSES = 10_000

/** Delays the refusals of an address that keeps failing. Calls that succeed never come here. */
export function slowFailures(): (request: FastifyRequest) => Promise<void> {
  const failures = new Map<string, { count: number; until: number }>()
  let waiting = 0
  return async request => {
    const now = performance.now()
    const key = addressKey(addressOf(request))
    const known = failures.get(key)
    if (known === undefined || known.until < now) {
      if (failures.size >= MAX_ADDRESSES) failures.clear()
      failures.set(key, { count: 1, until: now + WINDOW_MS })
      return
    }
    known.count++
    if (known.count <= FREE_FAILURES) return
    // One connection may carry any number of calls: beyond this number, a call costs its connection.
    if (waiting >= MAX_WAITING) return void request.raw.destroy()
    waiting++
    await sleep(DELAY_MS).finally(() => waiting--)
  }
}
