import { lagging } from '../ledger/answers/lagging.ts'
import type { Done } from '../ledger/calls/client.ts'
import type { Attempt } from './operation.ts'

type Found = Pick<Done<{ id: number }>, 'path' | 'body'>

/** A loan may have been created again under the external id of one that was deleted. @throws LedgerTrouble */
export async function refuseRemoved(attempt: Attempt, { path, body }: Found): Promise<void> {
  if (await isRemoved(attempt, body)) throw lagging(path)
}

export async function isRemoved(attempt: Attempt, { id }: { id: number }): Promise<boolean> {
  const { removed } = await attempt.recentlyDone()
  return removed.includes(id)
}

/**
 * An update sends again what it does not change: from a read that lacks the updates before it, it would undo those.
 * @param isShown whether the record has what all of them together left
 * @throws LedgerTrouble
 */
export async function refuseLagging<Changes>(
  attempt: Attempt,
  name: string,
  found: Found,
  isShown: (left: Changes) => boolean,
): Promise<void> {
  const { done, removed } = await attempt.recentlyDone()
  const updates = done.filter(({ operationType }) => operationType === name)
  const left = Object.assign({}, ...updates.map(({ data }) => data))
  const lacksUpdates = updates.length > 0 && !isShown(left)
  if (lacksUpdates || removed.includes(found.body.id)) throw lagging(found.path)
}
