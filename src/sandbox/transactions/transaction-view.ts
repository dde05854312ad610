import { amount, day } from '../http/wire.ts'
import type { Loan } from '../loans/loan.ts'
import { rupee } from '../reference/currency.ts'
import { officeName } from '../reference/offices.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { PaymentDetail, Transaction } from './transaction.ts'
import { transactionType } from './transaction-type.ts'

export function transactionView(ledger: Ledger, loan: Loan, transaction: Transaction) {
  const { payment, officeId } = transaction
  return {
    id: transaction.id,
    loanId: loan.id,
    externalLoanId: loan.externalId,
    officeId,
    officeName: officeName(ledger, officeId),
    type: transactionType(transaction.type),
    date: day(transaction.date),
    currency: rupee(loan.terms.rounding),
    paymentDetailData: payment && paymentView(ledger, transaction.id, payment),
    amount: amount(transaction.amount),
    netDisbursalAmount: amount(loan.netDisbursalAmount),
    principalPortion: amount(transaction.principal),
    interestPortion: amount(transaction.interest),
    feeChargesPortion: amount(transaction.fees),
    penaltyChargesPortion: amount(0),
    overpaymentPortion: amount(transaction.overpayment),
    unrecognizedIncomePortion: amount(0),
    externalId: transaction.externalId,
    outstandingLoanBalance: amount(transaction.balance),
    submittedOnDate: day(transaction.submittedOn),
    manuallyReversed: transaction.manuallyReversed,
    reversalExternalId: transaction.reversalExternalId,
    reversedOnDate: day(transaction.reversedOn),
    loanChargePaidByList: [],
    numberOfRepayments: 0,
    transactionRelations: (transaction.relations ?? []).map(({ type, amount: of, to }) => ({
      toLoanTransaction: to,
      relationType: type,
      amount: amount(of),
    })),
  }
}

function paymentView(ledger: Ledger, id: number, payment: PaymentDetail) {
  const { paymentTypeId, ...details } = payment
  const type = ledger.books.defined.paymentTypes.get(paymentTypeId)
  const paymentType = {
    id: paymentTypeId,
    name: type?.name,
    isSystemDefined: type?.isSystemDefined,
  }
  return { id, paymentType, ...details }
}
