import type { Attempt } from '../engine/operation.ts'
import { type Answer, contradicted, LedgerTrouble } from '../ledger/answers/answer.ts'
import { isTaken, refusesDuplicate } from '../ledger/answers/taken.ts'

type Made<Found> = {
  /** Finds what has the external id. */
  find(): Promise<Found | undefined>
  /** The user who made it, if it is what the creation would make. */
  creatorIfEqual(found: Found): string | undefined
}

/**
 * The ledger or a proxy may run a creation twice, and return the refusal of the second run. What our user made, and no
 * operation of ours is known to have made, is the first run's.
 */
export async function unlessMade<Found>(
  attempt: Attempt,
  answer: Answer,
  { find, creatorIfEqual }: Made<Found>,
): Promise<Answer> {
  if (!refusesDuplicate(answer) || (await attempt.recentlyDone()).isKnown) return answer
  try {
    const found = await find()
    // The read comes from a replica that lags.
    if (found === undefined) return isTaken(answer) ? contradicted(answer) : answer
    const isOurs = creatorIfEqual(found)?.toLowerCase() === attempt.reference.username.toLowerCase()
    return isOurs ? contradicted(answer) : answer
  } catch (error) {
    if (error instanceof LedgerTrouble && isHidden(error.answer)) return answer
    throw error
  }
}

/** Our user sees nothing of what belongs to another office. */
const isHidden = ({ outcome, status, code }: Answer): boolean =>
  outcome === 'misconfigured' && (code !== null || status === 200)
