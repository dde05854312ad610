import { type Day, dayText } from '../day.ts'

/** What a look at the ledger says of an operation whose earlier attempt may have arrived. */
export type Held =
  /** It is there, as ours would have made it; `body` has the fields of the ledger's answer to the write. */
  | { state: 'there'; body: object }
  /**
   * It is there, but in a state that ours does not leave: somebody went on from it, or it was so before. Under the same
   * key the ledger answers an update that it took with its first answer, and refuses one that comes too late.
   */
  | { state: 'moved_on'; body: object }
  /** It is not there; or something is that is not ours: the ledger's answer to the next attempt will tell. */
  | { state: 'absent' }
  /** Something else is in its place. */
  | { state: 'differs'; how: string }

export const absent: Held = { state: 'absent' }
export const there = (body: object): Held => ({ state: 'there', body })

/** @param differences what is not as it was asked for, one clause each */
export function compared(body: object, differences: string[]): Held {
  return differences.length === 0
    ? there(body)
    : {
        state: 'differs',
        how: `it is in the ledger already, and differs: ${differences.join(', ')}`,
      }
}

/** One clause on what the ledger holds instead of what was asked for. */
export function difference(name: string, there: unknown, wanted: unknown): string {
  return `${name} is ${there ?? 'empty'} there, not ${wanted}`
}

export const dayThere = (day: Day | undefined) => day && dayText(day)
