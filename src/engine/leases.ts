import type { Database } from '../database/database.ts'
import { LEASE_SECONDS, RENEW_EVERY_MS } from '../database/lease.ts'
import { type Claim, claimKey, renewClaims } from './claim.ts'

/** This long before its end a lease no longer covers a write, which must arrive while the lease still holds. */
const MARGIN_MS = 1_000

export type Leases = {
  /** @param since `performance.now()` from before the claims were made */
  add(claims: Claim[], since: number): void
  release(claim: Claim): void
  /** Whether the lease certainly covers a write, by our own clock: this process may have been suspended meanwhile. */
  covers(claim: Claim): boolean
  stop(): void
}

/** Keeps this process's claims renewed. */
export function keepLeases(
  db: Database,
  worker: string,
  log: { error(object: object, message: string): void },
  renewEveryMs = RENEW_EVERY_MS,
): Leases {
  const held = new Map<string, { claim: Claim; until: number }>()
  const renewing = setInterval(() => void renew(), renewEveryMs)

  return {
    add(claims, since) {
      for (const claim of claims) held.set(claimKey(claim), { claim, until: endOf(since) })
    },
    release: claim => void held.delete(claimKey(claim)),
    covers: claim => performance.now() < (held.get(claimKey(claim))?.until ?? 0) - MARGIN_MS,
    stop: () => clearInterval(renewing),
  }

  async function renew(): Promise<void> {
    if (held.size === 0) return
    const asked = [...held.values()]
    const since = performance.now()
    try {
      const claims = asked.map(({ claim }) => claim)
      const renewed = new Set((await renewClaims(db, worker, claims)).map(claimKey))
      for (const lease of asked) lease.until = renewed.has(claimKey(lease.claim)) ? endOf(since) : 0
    } catch (error) {
      log.error({ err: error }, 'renewing leases failed')
    }
  }
}

const endOf = (since: number) => since + LEASE_SECONDS * 1_000
