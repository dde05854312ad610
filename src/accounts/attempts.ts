import { RateLimiterPostgres } from 'rate-limiter-flexible'
import type { Database } from '../database/database.ts'
import { addressKey, nameKey } from './attempt-keys.ts'
import { attemptStore } from './attempt-store.ts'
import { TooManyAttempts } from './too-many-attempts.ts'

const WINDOW_SECONDS = 900
/** People mistype a few times; an attacker gets 480 guesses a day. */
const FAILURES_PER_USERNAME = 5
/** Many people may share an office's address. */
const FAILURES_PER_ADDRESS = 50

export type Attempts = {
  check(username: string, address: string | null): Promise<void>
  failed(username: string, address: string | null): Promise<void>
  succeeded(username: string): Promise<void>
}

export function openAttempts(db: Database): Attempts {
  const shared = { ...attemptStore(db), duration: WINDOW_SECONDS }
  const names = new RateLimiterPostgres({
    ...shared,
    keyPrefix: 'name',
    points: FAILURES_PER_USERNAME,
  })
  const addresses = new RateLimiterPostgres({
    ...shared,
    keyPrefix: 'address',
    points: FAILURES_PER_ADDRESS,
  })

  return {
    async check(username, address) {
      const [byName, byAddress] = await Promise.all([
        names.get(nameKey(username)),
        addresses.get(addressKey(address)),
      ])
      const waits = [byName, byAddress]
        .filter(found => found !== null && found.remainingPoints === 0)
        .map(found => found?.msBeforeNext ?? 0)
      if (waits.length > 0) throw new TooManyAttempts(Math.ceil(Math.max(...waits) / 1_000))
    },
    async failed(username, address) {
      await Promise.all([names.penalty(nameKey(username)), addresses.penalty(addressKey(address))])
    },
    async succeeded(username) {
      await names.delete(nameKey(username))
    },
  }
}
