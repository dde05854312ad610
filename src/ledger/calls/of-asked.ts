import { isAnother, LedgerTrouble } from '../answers/answer.ts'
import type { Reading } from './client.ts'

/** @throws LedgerTrouble if what was read is another record than the one with this external id */
export async function ofAsked<T>(
  externalId: string,
  reading: Promise<Reading<T>>,
): Promise<Reading<T>> {
  const answer = await reading
  const { externalId: answered } = (answer.body ?? {}) as { externalId?: unknown }
  if (answer.outcome !== 'done' || !isAnother(externalId, answered)) return answer
  const message = `the answer is about another record than ${externalId}`
  throw new LedgerTrouble({ ...answer, outcome: 'not_arrived', message })
}
