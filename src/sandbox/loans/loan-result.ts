import { clientById } from '../clients/find-client.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'

type More = { subResourceId?: number; changes?: object }

export function loanResult(ledger: Ledger, loan: Loan, more: More = {}) {
  return {
    officeId: clientById(ledger, loan.clientId).officeId,
    clientId: loan.clientId,
    loanId: loan.id,
    resourceId: loan.id,
    ...more,
    resourceExternalId: loan.externalId,
  }
}
