import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { textOf } from '../fields/text.ts'
import { domainRule, duplicateKey, integrityIssue, unavailable } from '../http/refusal.ts'
import { loanById } from '../loans/find-loan.ts'
import type { Loan } from '../loans/loan.ts'
import { loanResult } from '../loans/loan-result.ts'
import { WRITTEN_OFF } from '../loans/status.ts'
import { isLiveRepayment } from '../storage/books.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { PAYMENT_KEYS, readPayment, readRepayment, repaymentAsChanges } from './payment-detail.ts'
import { postRepayment, refuseDay, refuseTransactionExternalId } from './post-repayment.ts'
import { reallocate, settleLoan } from './settle-loan.ts'
import type { PaymentDetail, Transaction } from './transaction.ts'

const KEYS = new Set([
  ...PAYMENT_KEYS,
  ...'transactionDate transactionAmount externalId note locale dateFormat reversalExternalId'.split(
    ' ',
  ),
])

/** Reverses a repayment; an amount other than 0 also posts a new one in its place. */
export function adjustTransaction(
  ledger: Ledger,
  loan: Loan,
  transaction: Transaction,
  body: Body,
) {
  refuseUnknownKeys(body, KEYS)
  const { date, amount } = readRepayment(loan, body, 'zeroOrMore')
  const payment = readPayment(ledger, body)
  refuseLinked(loan, transaction)
  refuseAdjustment(transaction)
  const note = textOf(body, 'note')
  const externalId = textOf(body, 'externalId')
  // Fineract checks the day even if nothing is posted on it.
  refuseDay(ledger, loan, date)
  if (amount > 0) refuseReplacement(ledger, externalId, payment)
  const reversalExternalId = textOf(body, 'reversalExternalId')
  refuseReversalExternalId(ledger, reversalExternalId)
  undo(ledger, loan, transaction, reversalExternalId)
  settleLoan(ledger, loan, date)
  const undone = loanById(ledger, loan.id)
  const id =
    amount > 0
      ? postRepayment(ledger, undone, { date, amount, externalId, note, payment })
      : transaction.id
  return loanResult(ledger, loan, {
    resourceId: id,
    changes: repaymentAsChanges(body, payment),
    resourceExternalId: amount > 0 ? externalId : transaction.externalId,
  })
}

function refuseAdjustment(transaction: Transaction): void {
  if (isLiveRepayment(transaction)) return
  const message =
    'Only (non-reversed) transactions of type repayment, waiver or credit balance refund can be adjusted.'
  const code =
    'error.msg.loan.transaction.adjustment.is.only.allowed.to.repayment.or.waiver.or.creditbalancerefund.transactions'
  throw domainRule(code, message)
}

function refuseReversalExternalId(ledger: Ledger, externalId: string | undefined): void {
  if (externalId === undefined || !ledger.books.reversalExternalIds.has(externalId)) return
  const constraint = 'unique_reversal_external_id_loan_transaction'
  throw duplicateKey(constraint, 'reversal_external_id', externalId)
}

/** What is written off, or charged back, Fineract refuses to change with a 503. */
function refuseLinked(loan: Loan, { id, relations = [] }: Transaction): void {
  const refusal = (what: string, why: string) =>
    unavailable(
      `error.msg.loan.${what}.update.not.allowed`,
      `Loan transaction:${id} update not allowed as loan ${why}`,
    )
  if (loan.status === WRITTEN_OFF) throw refusal('written.off', 'status is written off')
  if (relations.some(({ type }) => type === 'CHARGEBACK'))
    throw refusal('transaction', 'transaction is linked to other transactions')
}

/** Fineract cannot save a replacement with payment details. */
function refuseReplacement(
  ledger: Ledger,
  externalId: string | undefined,
  payment: PaymentDetail | undefined,
): void {
  if (payment !== undefined) {
    const message =
      'During synchronization a new object was found through a relationship that was not marked cascade PERSIST: PaymentDetail.'
    throw integrityIssue('error.msg.data.integrity.issue', message)
  }
  if (externalId !== undefined && ledger.books.transactionByExternalId.has(externalId))
    throw duplicateKey('m_loan_transaction_external_id_key', 'external_id', externalId)
  refuseTransactionExternalId(ledger, externalId)
}

function undo(
  ledger: Ledger,
  loan: Loan,
  transaction: Transaction,
  reversalExternalId: string | undefined,
): void {
  ledger.books.saveTransaction({
    ...transaction,
    manuallyReversed: true,
    reversedOn: today(ledger),
    reversalExternalId,
  })
  reallocate(ledger, loan)
}
