import { LedgerTrouble } from './answer.ts'

/** A fault that a person must correct here or at the ledger before the call can succeed. */
export function misconfigured(path: string, message: string): LedgerTrouble {
  return new LedgerTrouble({
    method: 'GET',
    path,
    status: 200,
    body: null,
    outcome: 'misconfigured',
    code: null,
    message,
    isRecorded: false,
    isFromStore: false,
    leftNothing: true,
  })
}
