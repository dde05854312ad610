import { sql } from 'kysely'

/** After this, others may take over a dead process's work. */
export const LEASE_SECONDS = 10
export const leaseEnd = sql`now() + make_interval(secs => ${LEASE_SECONDS})`
/** Three renewals in a row must fail before a lease is lost. */
const RENEW_EVERY_MS = 3_000

/** @param onError receives the error of a failed renewal; the next renewal makes up for it */
export function keepRenewing(
  renew: () => Promise<unknown>,
  onError: (error: unknown) => void = () => {},
  everyMs = RENEW_EVERY_MS,
) {
  let isStopped = false
  const timer = setInterval(() => void renew().catch(report), everyMs)

  return {
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }

  /** A renewal in flight at the stop may find the database closed; that does not matter. */
  function report(error: unknown): void {
    if (!isStopped) onError(error)
  }
}
