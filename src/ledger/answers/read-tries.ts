import { LedgerTrouble } from './answer.ts'

/** A read may fail by chance. If it fails this often while the ledger answers otherwise, the loan itself is the cause. */
export const READ_TRIES = 3
export const READ_AGAIN_MS = 250
/** Longer waits are cut to this: an attempt that then comes too early gets another Retry-After. */
const MAX_REST_MS = 60_000

/** How long the ledger asked its readers to wait. */
export function retryAfterOf(error: unknown): number {
  const { retryAfterMs = 0 } = error instanceof LedgerTrouble ? error.answer : {}
  return Math.min(retryAfterMs, MAX_REST_MS)
}
