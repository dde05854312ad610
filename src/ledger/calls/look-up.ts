import { LedgerTrouble, NOT_FOUND } from '../answers/answer.ts'
import type { Done, Reading } from './client.ts'

/** @returns undefined only if the ledger itself says that the loan or client does not exist */
export async function lookUp<T>(reading: Promise<Reading<T>>): Promise<T | undefined> {
  const answer = await lookUpAnswer<T>(reading)
  return answer?.body
}

export async function lookUpAnswer<T>(reading: Promise<Reading<T>>): Promise<Done<T> | undefined> {
  const answer = await reading
  if (answer.outcome === 'done') return answer
  if (answer.status === NOT_FOUND) return undefined
  throw new LedgerTrouble({ ...answer, outcome: 'not_arrived' })
}
