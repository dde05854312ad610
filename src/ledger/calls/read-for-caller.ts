import { Unavailable } from '../../database/unavailable.ts'
import { LedgerTrouble } from '../answers/answer.ts'
import type { Ledger, Reader } from './client.ts'

/** This is less than callers usually wait, and enough for a loan with its schedule. */
const PATIENCE_MS = 20_000

export type ForCaller = { ledger: Pick<Ledger, 'forCaller'>; signal?: AbortSignal }

/** Reads the ledger while a caller waits for the answer. @throws Unavailable if it cannot be read */
export async function readForCaller<T>(
  { ledger, signal }: ForCaller,
  read: (ledger: Reader) => Promise<T>,
): Promise<T> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  const until = signal === undefined ? patience : AbortSignal.any([patience, signal])
  try {
    return await read(ledger.forCaller(until))
  } catch (error) {
    if (error instanceof LedgerTrouble)
      throw new Unavailable('the ledger could not be read', { cause: error })
    throw error
  }
}
