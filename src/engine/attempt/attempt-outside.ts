import type { Attempt } from '../operation.ts'

type Own = Pick<Attempt, 'ledger' | 'reference' | 'id' | 'origin' | 'key' | 'takesEqualAsDone'>

/** The attempt for a call of an operation's functions without a claim, where no earlier attempt left anything. */
export function attemptOutside(own: Own): Attempt {
  return {
    ...own,
    mayStillRun: false,
    kept: {},
    keep: (_name, read) => read(),
    recentlyDone: async () => ({ done: [], removed: [] }),
    seen: null,
    remember: async () => undefined,
    passedOn: undefined,
    passOn: () => undefined,
  }
}
