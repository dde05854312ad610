import { LedgerTrouble, NOTHING_WRITTEN } from './answer.ts'

/** A fault that a person must correct here or at the ledger before the call can succeed. */
export function misconfigured(path: string, message: string): LedgerTrouble {
  return new LedgerTrouble({
    ...NOTHING_WRITTEN,
    method: 'GET',
    path,
    status: 200,
    outcome: 'misconfigured',
    message,
  })
}
