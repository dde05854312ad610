import { LedgerTrouble } from '../answers/answer.ts'
import type { Reading } from './client.ts'

/**
 * Reads what only helps to foresee an answer: our user may lack the permission to read it, and another ledger may not
 * have it.
 * @returns undefined in both cases
 */
export async function bodyIfReadable<Body>(reading: Promise<Reading<Body>>) {
  try {
    const answer = await reading
    return answer.outcome === 'done' ? answer.body : undefined
  } catch (error) {
    if (error instanceof LedgerTrouble && error.answer.outcome === 'misconfigured') return undefined
    throw error
  }
}
