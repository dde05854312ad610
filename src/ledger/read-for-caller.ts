import { Unavailable } from '../database/unavailable.ts'
import { LedgerTrouble } from './answer.ts'
import type { Slots } from './slots.ts'

/** Reads the ledger while a caller waits for the answer. @throws Unavailable if it cannot be read */
export async function readForCaller<T>(slots: Slots, read: () => Promise<T>): Promise<T> {
  try {
    return await slots.run('live', read)
  } catch (error) {
    if (error instanceof LedgerTrouble)
      throw new Unavailable('the ledger could not be read', { cause: error })
    throw error
  }
}
