import { type Answer, TOO_EARLY } from '../../ledger/answers/answer.ts'
import type { Claim } from '../claim/claim.ts'

const CONFLICT = 409
/** Under the old key, an operator who wants another try would get only these again. */
const REPEATED = [TOO_EARLY, CONFLICT, 500]
/** A key that has been "still processing" for this long belongs to a call that died inside the ledger. */
const STUCK_KEY_MS = 10 * 60_000
/** After a conflict, which the ledger stores, it runs the command up to two more times within seconds. */
const RUNS_AGAIN_MS = 10_000
/** After this time, a second conflict under one key is the stored one, even if a proxy drops the header that marks it. */
const STORED_AFTER_MS = 30_000

type Asked = Pick<Claim, 'mayStillRun' | 'sent' | 'tooEarly' | 'resolution' | 'claimedAt'>

/** While a call under the old key may still run, only the store's own answer shows that it has ended. */
export function isOnlyCallRecorded(claim: Asked, key: string, answer: Answer): boolean {
  const { mayStillRun, sent, claimedAt } = claim
  if (!answer.isRecorded || !mayStillRun) return answer.isRecorded
  // A loan that is locked is another 409, which comes before the key.
  if (answer.status !== CONFLICT || answer.outcome !== 'unknown') return answer.isFromStore
  const ageMs = sent?.key === key ? claimedAt.getTime() - Date.parse(sent.since) : 0
  return answer.isFromStore
    ? ageMs > RUNS_AGAIN_MS
    : sent?.last === CONFLICT && ageMs > STORED_AFTER_MS
}

/** Whether nothing but this answer is to be expected under the key. */
export function isUseless(claim: Asked, key: string, answer: Answer): boolean {
  return (
    isOnlyCallRecorded(claim, key, answer) ||
    isStuck(claim, key, answer) ||
    isGivenUp(claim, answer)
  )
}

/** The time is counted per key: an older unknown outcome says nothing about a new call. */
function isStuck({ tooEarly, claimedAt }: Asked, key: string, answer: Answer): boolean {
  const ageMs = claimedAt.getTime() - Date.parse(tooEarly?.since ?? '')
  return answer.status === TOO_EARLY && tooEarly?.key === key && ageMs > STUCK_KEY_MS
}

/** An operator's retry waits for no key. */
export function isGivenUp({ resolution }: Asked, { status }: Answer): boolean {
  return resolution === 'retry' && status !== null && REPEATED.includes(status)
}

/** Whether a call under the old key may still run although a new key is taken. */
export function leavesCall(claim: Asked, key: string, answer: Answer): boolean {
  if (answer.status === TOO_EARLY) return true
  return isGivenUp(claim, answer) && !isOnlyCallRecorded(claim, key, answer)
}
