import { LedgerTrouble } from '../answers/answer.ts'
import { isAnother } from '../answers/of-another-call.ts'
import type { Reading } from './client.ts'

/** @throws LedgerTrouble if what was read is another record than the one with this external id, or only a part of it */
export function ofAsked<T>(
  externalId: string,
  reading: Promise<Reading<T>>,
  isWhole: (body: T) => boolean = () => true,
): Promise<Reading<T>> {
  const isOther = (body: T & Named) =>
    isAnother(externalId, body.externalId ?? '') || !isWhole(body)
  return of(externalId, reading, isOther)
}

/** @throws LedgerTrouble if what was read is another record than the one with this number */
export function ofNumber<T>(id: number, reading: Promise<Reading<T>>): Promise<Reading<T>> {
  return of(id, reading, answered => answered.id !== id)
}

type Named = { id?: unknown; externalId?: unknown }

async function of<T>(
  asked: string | number,
  reading: Promise<Reading<T>>,
  isOther: (answered: T & Named) => boolean,
): Promise<Reading<T>> {
  const answer = await reading
  if (answer.outcome !== 'done' || !isOther((answer.body ?? {}) as T & Named)) return answer
  const message = `the answer is about another record than ${asked}`
  throw new LedgerTrouble({ ...answer, outcome: 'not_arrived', message })
}
