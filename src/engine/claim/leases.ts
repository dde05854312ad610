import type { Database } from '../../database/database.ts'
import { keepRenewing, LEASE_SECONDS } from '../../database/lease.ts'
import { asError, type Log } from '../../log/log.ts'
import { type Claim, claimKey, renewClaims } from './claim.ts'

/** A write must arrive before the lease ends. */
const MARGIN_MS = 1_000

export type Leases = ReturnType<typeof keepLeases>

export function keepLeases(
  db: Database,
  worker: string,
  log: Pick<Log, 'error'>,
  renewEveryMs?: number,
) {
  const leased = new Map<string, { claim: Claim; until: number }>()
  const onError = asError(log, 'leases of operations could not be renewed')
  const renewal = keepRenewing(renew, onError, renewEveryMs)

  return {
    add(claims: Claim[], since: number): void {
      for (const claim of claims) leased.set(claimKey(claim), { claim, until: endOf(since) })
    },
    release: (claim: Claim) => void leased.delete(claimKey(claim)),
    /** Whether the lease still lasts, by our own clock, because this process may have been suspended meanwhile. */
    covers: (claim: Claim) =>
      performance.now() < (leased.get(claimKey(claim))?.until ?? 0) - MARGIN_MS,
    stop: renewal.stop,
  }

  async function renew(): Promise<void> {
    if (leased.size === 0) return
    const asked = [...leased.values()]
    const since = performance.now()
    const claims = asked.map(({ claim }) => claim)
    const ours = await renewClaims(db, worker, claims)
    const isRenewed = new Map(ours.map(claim => [claimKey(claim), claim.isRenewed]))
    for (const lease of asked) {
      const renewed = isRenewed.get(claimKey(lease.claim))
      if (renewed !== false) lease.until = renewed ? endOf(since) : 0
    }
  }
}

const endOf = (since: number) => since + LEASE_SECONDS * 1_000
