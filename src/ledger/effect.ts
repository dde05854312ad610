import { type Day, dayText } from '../day.ts'

export type Effect =
  /** The loan or client is as our write would have left it; `body` has the fields of the ledger's answer to the write. */
  | { state: 'there'; body: object }
  /** It is in a state that our write does not leave: only the key's stored answer shows whether the write was applied. */
  | { state: 'moved_on'; body: object }
  /** The first of two writes has arrived, and the second one was never sent. */
  | { state: 'half_done' }
  /** The effect is missing, or somebody else's; the ledger's answer to the next attempt shows which. */
  | { state: 'absent' }
  | { state: 'differs'; how: string }

export const absent: Effect = { state: 'absent' }
export const there = (body: object): Effect => ({ state: 'there', body })

export function compared(body: object, differences: string[]): Effect {
  return differences.length === 0
    ? there(body)
    : {
        state: 'differs',
        how: `It is already in the ledger, but different: ${differences.join(', ')}`,
      }
}

type Compared = readonly [name: string, there: unknown, wanted: unknown]

/**
 * The wording must not change: an operator who cleared an objection cleared it as it was worded, and any other raises
 * it again.
 */
export function differencesIn(...values: Compared[]): string[] {
  return values
    .filter(([, there, wanted]) => there !== wanted)
    .map(([name, there, wanted]) => `${name} is ${there ?? 'empty'} there, not ${wanted}`)
}

export const dayThere = (day: Day | undefined) => day && dayText(day)
