import { clientById } from '../clients/find-client.ts'
import { totalOf } from '../loans/fees.ts'
import type { Loan } from '../loans/loan.ts'
import { duesOf } from '../loans/schedule.ts'
import { AT_DISBURSEMENT } from '../reference/charge.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { NO_SPLIT, type PaymentDetail, type Transaction } from './transaction.ts'

type Details = { externalId: string | undefined; payment: PaymentDetail | undefined }

/**
 * Besides the disbursement, Fineract posts accruals, one per charge and one for the interest, and the payment
 * of the charges at disbursement.
 */
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
  const dues = duesOf(loan)
  for (const charge of loan.charges) {
    const fees = totalOf(charge, dues)
    if (charge.time !== AT_DISBURSEMENT) accrual(fees, { fees })
  }
  const { interestCharged: interest, feesAtDisbursement: fees } = books.accountOf(loan)
  if (fees > 0) {
    const balance = loan.principal
    const id = books.nextId('transaction')
    const type = 'repaymentAtDisbursement'
    books.saveTransaction({ id, ...common, type, amount: fees, fees, balance })
  }
  accrual(interest, { interest })
  return disbursement.id
}
