import { type Answer, NOT_FOUND } from './answer.ts'
import { isRefusalOfAnother } from './of-another-call.ts'

/** Whether no other call under its key runs or can still be applied. A 404 comes before the key is looked at. */
export function isRefusedUnderKey({ outcome, status, isFromStore }: Answer): boolean {
  return outcome === 'refused' && (status !== NOT_FOUND || isFromStore)
}

/**
 * The outcome of our calls under a key.
 * @param probe a write under that key which the ledger refuses because of its form
 * @returns undefined if it applied none of them, and cannot apply any more, because it keeps the refusal; otherwise its answer
 * to one that it applied or that still runs
 */
export async function outcomeUnderKey(probe: Promise<Answer>): Promise<Answer | undefined> {
  const answer = await probe
  if (isRefusalOfAnother(answer)) return { ...answer, outcome: 'unknown' }
  return isRefusedUnderKey(answer) ? undefined : answer
}
