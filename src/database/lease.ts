/** What a process works on is its own for so long; after that, others may take up a dead process's work. */
export const LEASE_SECONDS = 10
/** Three renewals may fail before a lease is lost. */
const RENEW_EVERY_MS = 3_000

export type Renewal = { stop(): void }

/**
 * Renews a lease, or several, until it is stopped.
 * @param onError hears of a renewal that failed; the next one makes up for it
 */
export function keepRenewing(
  renew: () => Promise<unknown>,
  onError: (error: unknown) => void = () => {},
  everyMs = RENEW_EVERY_MS,
): Renewal {
  let isStopped = false
  const timer = setInterval(() => void renew().catch(report), everyMs)

  return {
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }

  /** One that is under way at the stop may find the database closed; nobody needs it. */
  function report(error: unknown): void {
    if (!isStopped) onError(error)
  }
}
