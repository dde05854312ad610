import { domainRule } from '../http/refusal.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'
import { loanResult } from './loan-result.ts'
import { SUBMITTED } from './status.ts'

export function deleteLoan(ledger: Ledger, loan: Loan) {
  if (loan.status !== SUBMITTED) {
    const message = `Loan with identifier ${loan.id} cannot be deleted in its current state.`
    throw domainRule('error.msg.loan.cannot.delete.loan.in.its.present.state', message, loan.id)
  }
  ledger.books.removeLoan(loan)
  return loanResult(ledger, loan)
}
