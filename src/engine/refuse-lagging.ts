import { lagging } from '../ledger/answers/lagging.ts'
import type { Done } from '../ledger/calls/client.ts'
import type { Attempt } from './operation.ts'

/**
 * An update sends again what it does not change: from a read that lacks the update before it, it would undo that one.
 * @throws LedgerTrouble
 */
export async function refuseLagging<Changes>(
  attempt: Attempt,
  name: string,
  { path }: Done<unknown>,
  isShown: (last: Changes) => boolean,
): Promise<void> {
  const last = await attempt.lastDone()
  if (last?.operationType === name && !isShown(last.data as Changes)) throw lagging(path)
}
