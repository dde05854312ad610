import { OFFICE_ID } from '../reference/office.ts'
import type { Loan } from './loan.ts'

export function loanResult(loan: Loan, more: { subResourceId?: number; changes?: object } = {}) {
  return {
    officeId: OFFICE_ID,
    clientId: loan.clientId,
    loanId: loan.id,
    resourceId: loan.id,
    ...more,
    resourceExternalId: loan.externalId,
  }
}
