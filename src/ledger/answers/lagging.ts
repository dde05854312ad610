import { LedgerTrouble, NOT_FOUND, NOTHING_WRITTEN } from './answer.ts'

/** A read that lacks what we did comes from a replica that lags, or from a cache. */
export function lagging(path: string): LedgerTrouble {
  return new LedgerTrouble({
    ...NOTHING_WRITTEN,
    method: 'GET',
    path,
    status: NOT_FOUND,
    outcome: 'not_arrived',
    message: 'the ledger does not show yet what LoanOps has just done',
  })
}
