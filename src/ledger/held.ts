import { type Day, dayText } from '../day.ts'

/** What the ledger holds of an operation. */
export type Held =
  /** It is there as our write would have left it; `body` has the fields of the ledger's answer to the write. */
  | { state: 'there'; body: object }
  /**
   * It is there, but in a state that our write does not leave: someone has taken it further, or it already was. Under
   * the same key the ledger repeats its answer to an update that it applied, and refuses one that comes too late.
   */
  | { state: 'moved_on'; body: object }
  /** It is not there, or what is there is not ours: the ledger's answer to the next attempt will show. */
  | { state: 'absent' }
  /** Something else is in its place. */
  | { state: 'differs'; how: string }

export const absent: Held = { state: 'absent' }
export const there = (body: object): Held => ({ state: 'there', body })

/** @param differences one clause per field that is not as requested */
export function compared(body: object, differences: string[]): Held {
  return differences.length === 0
    ? there(body)
    : {
        state: 'differs',
        how: `it is in the ledger already, and differs: ${differences.join(', ')}`,
      }
}

/** One clause that says what the ledger holds instead of what was requested. */
export function difference(name: string, there: unknown, wanted: unknown): string {
  return `${name} is ${there ?? 'empty'} there, not ${wanted}`
}

export const dayThere = (day: Day | undefined) => day && dayText(day)
