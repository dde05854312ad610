import { clientById } from '../clients/find-client.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'

type More = {
  resourceId?: number | undefined
  subResourceId?: number
  changes?: object
  resourceExternalId?: string | undefined
}

export function loanResult(ledger: Ledger, loan: Loan, more: More = {}) {
  return {
    officeId: clientById(ledger, loan.clientId).officeId,
    clientId: loan.clientId,
    loanId: loan.id,
    resourceId: loan.id,
    resourceExternalId: loan.externalId,
    ...more,
  }
}
