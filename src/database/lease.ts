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
  const timer = setInterval(() => void renew().catch(onError), everyMs)
  return { stop: () => clearInterval(timer) }
}
