import { clientById } from '../clients/find-client.ts'
import type { Loan } from '../loans/loan.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { NO_SPLIT, type PaymentDetail, type Transaction } from './transaction.ts'

type Details = {
  externalId: string | undefined
  payment: PaymentDetail | undefined
}

/** Besides the disbursement, Fineract posts accruals: one per charge, then one for the interest. */
export function postDisbursement(ledger: Ledger, loan: Loan, details: Details): number {
  const { books } = ledger
  const common = {
    loanId: loan.id,
    officeId: clientById(ledger, loan.clientId).officeId,
    date: loan.disbursedOn ?? '',
    submittedOn: today(ledger),
    manuallyReversed: false,
    ...NO_SPLIT,
  }
  const disbursement: Transaction = {
    id: books.nextId('transaction'),
    ...common,
    ...details,
    type: 'disbursement',
    amount: loan.principal,
    balance: loan.principal,
  }
  books.saveTransaction(disbursement)
  const accrual = (amount: number, split: { fees?: number; interest?: number }) =>
    books.saveTransaction({
      id: books.nextId('transaction'),
      ...common,
      ...split,
      type: 'accrual',
      amount,
    })
  for (const { amount } of loan.charges) accrual(amount, { fees: amount })
  const interest = books.accountOf(loan).interestCharged
  accrual(interest, { interest })
  return disbursement.id
}
