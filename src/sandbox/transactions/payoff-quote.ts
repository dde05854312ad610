import { amount, day } from '../http/wire.ts'
import { loanById } from '../loans/find-loan.ts'
import type { Loan } from '../loans/loan.ts'
import { rupee } from '../reference/currency.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { transactionType } from './transaction-type.ts'

/** Paying early saves nothing: the quote is everything outstanding. */
export function payoffQuote(ledger: Ledger, loan: Loan) {
  const account = ledger.books.accountOf(loanById(ledger, loan.id))
  return {
    type: transactionType('repayment'),
    date: day(today(ledger)),
    currency: rupee(loan.terms.rounding),
    amount: amount(account.outstanding),
    netDisbursalAmount: amount(loan.netDisbursalAmount),
    principalPortion: amount(account.balance),
    interestPortion: amount(account.interestCharged - account.interestPaid),
    feeChargesPortion: amount(account.feesCharged - account.feesPaid),
    penaltyChargesPortion: amount(0),
    outstandingLoanBalance: amount(account.balance),
    manuallyReversed: false,
    paymentTypeOptions: [...ledger.books.defined.paymentTypes.values()],
  }
}
