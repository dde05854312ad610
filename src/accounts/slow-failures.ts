import { setTimeout } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { addressKey } from '../http/address-key.ts'
import { addressOf } from './address.ts'

/** A misconfigured caller repeats a few calls; beyond, somebody guesses. */
const FREE_FAILURES = 20
const WINDOW_MS = 60_000
const DELAY_MS = 1_000
/** The refusals that wait at the same time: each holds a connection and nothing else. */
const MAX_WAITING = 100
const MAX_ADDRESSES = 10_000

/** Holds back the refusals of an address that keeps failing. Calls that succeed never come here. */
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
    if (known.count <= FREE_FAILURES || waiting >= MAX_WAITING) return
    waiting++
    await setTimeout(DELAY_MS).finally(() => waiting--)
  }
}
