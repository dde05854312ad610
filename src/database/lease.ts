/** What a process works on is its own for so long; a dead one's work goes on after it. */
export const LEASE_SECONDS = 10
/** Three renewals may fail before a lease is lost. */
export const RENEW_EVERY_MS = 3_000
