import { LedgerTrouble } from './answer.ts'
import type { Done, Reader } from './client.ts'
import type { LedgerPath } from './path.ts'

const NOT_FOUND = 404

/** @returns undefined only if the ledger itself says that it does not exist */
export async function lookUp<T>(ledger: Reader, path: LedgerPath): Promise<T | undefined> {
  const answer = await lookUpAnswer<T>(ledger, path)
  return answer?.body
}

export async function lookUpAnswer<T>(
  ledger: Reader,
  path: LedgerPath,
): Promise<Done<T> | undefined> {
  const answer = await ledger.read<T>(path)
  if (answer.outcome === 'done') return answer
  if (answer.status === NOT_FOUND) return undefined
  throw new LedgerTrouble({ ...answer, outcome: 'not_arrived' })
}
