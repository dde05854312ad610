import { isAnother, LedgerTrouble } from '../answers/answer.ts'
import type { Reading } from './client.ts'

/** @throws LedgerTrouble if what was read is another record than the one with this external id */
export function ofAsked<T>(externalId: string, reading: Promise<Reading<T>>): Promise<Reading<T>> {
  return of(externalId, reading, answered => isAnother(externalId, answered.externalId))
}

/** @throws LedgerTrouble if what was read is another record than the one with this number */
export function ofNumber<T>(id: number, reading: Promise<Reading<T>>): Promise<Reading<T>> {
  return of(id, reading, answered => answered.id !== id)
}

type Named = { id?: unknown; externalId?: unknown }

async function of<T>(
  asked: string | number,
  reading: Promise<Reading<T>>,
  isOther: (answered: Named) => boolean,
): Promise<Reading<T>> {
  const answer = await reading
  if (answer.outcome !== 'done' || !isOther((answer.body ?? {}) as Named)) return answer
  const message = `the answer is about another record than ${asked}`
  throw new LedgerTrouble({ ...answer, outcome: 'not_arrived', message })
}
