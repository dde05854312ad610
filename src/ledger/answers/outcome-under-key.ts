import { type Answer, NOT_FOUND } from './answer.ts'

/**
 * The outcome of our calls under a key. A 404 comes before the key is looked at.
 * @param probe a write under that key which the ledger refuses because of its form
 * @returns undefined if it applied none of them, and cannot apply any more, because it keeps the refusal; otherwise its answer
 * to one that it applied or that still runs
 */
export async function outcomeUnderKey(probe: Promise<Answer>): Promise<Answer | undefined> {
  const answer = await probe
  return answer.outcome === 'refused' && answer.status !== NOT_FOUND ? undefined : answer
}
