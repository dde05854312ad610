import { joinedOfficeOn } from '../clients/client.ts'
import { clientById } from '../clients/find-client.ts'
import { domainRule, fieldError, integrityIssue, invalid } from '../http/refusal.ts'
import { refuseInactiveClient } from '../loans/active-client.ts'
import type { Loan } from '../loans/loan.ts'
import { ACTIVE, isRepayable } from '../loans/status.ts'
import { isLiveRepayment } from '../storage/books.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { allocate } from './account.ts'
import { reallocate, settleLoan } from './settle-loan.ts'
import { NO_SPLIT, type PaymentDetail } from './transaction.ts'

type NewRepayment = {
  date: string
  amount: number
  externalId: string | undefined
  note: string | undefined
  payment: PaymentDetail | undefined
}

export function refuseRepayment(ledger: Ledger, loan: Loan, date: string): void {
  refuseInactiveClient(ledger, loan.clientId)
  if (!isRepayable(loan.status)) {
    const message = 'Loan must be Active, Fully Paid or Overpaid'
    const code = 'error.msg.loan.must.be.active.fully.paid.or.overpaid'
    throw invalid([fieldError(code, 'id', message)])
  }
  if (ledger.flags.has('block-closed') && loan.status !== ACTIVE) {
    const code = 'error.msg.loan.transaction.not.allowed.on.closed.or.overpaid'
    throw domainRule(code, 'A transaction is not allowed on a closed or overpaid loan.')
  }
  refuseDay(ledger, loan, date)
}

export function refuseDay(ledger: Ledger, loan: Loan, date: string): void {
  const refusal = (code: string, message: string, ...args: string[]) =>
    domainRule(`error.msg.loan.${code}`, message, ...args)
  const joinedOn = joinedOfficeOn(refuseInactiveClient(ledger, loan.clientId))
  if (joinedOn !== undefined && date < joinedOn) {
    const message = `The date on which a repayment or waiver is made cannot be earlier than client's transfer date to this office`
    const code = 'repayment.or.waiver.cannot.be.made.before.client.transfer.date'
    throw refusal(code, message, joinedOn)
  }
  const disbursedOn = loan.disbursedOn ?? ''
  if (date < disbursedOn) {
    const message = `The transaction date cannot be before the loan disbursement date: ${disbursedOn}`
    throw refusal('transaction.cannot.be.before.disbursement.date', message, date, disbursedOn)
  }
  if (loan.terms.recalculates && date < lastRepaidOn(ledger, loan)) {
    const message =
      'The date on which a repayment or waiver is made cannot be earlier than last transaction date'
    const code = 'repayment.or.waiver.cannot.be.made.before.last.transaction.date'
    throw refusal(code, message)
  }
  if (date > today(ledger)) {
    const message = 'The transaction date cannot be in the future.'
    throw refusal('transaction.cannot.be.a.future.date', message, date)
  }
}

const lastRepaidOn = ({ books }: Ledger, loan: Loan): string =>
  books.transactionsOf(loan).findLast(isLiveRepayment)?.date ?? ''

/** Length and uniqueness of the external id are database constraints. */
export function refuseTransactionExternalId(ledger: Ledger, externalId: string | undefined): void {
  if (externalId === undefined) return
  if (externalId.length > 100) {
    const message = 'Unknown data integrity issue with resource: Repayment'
    throw integrityIssue('error.msg.loan.repayment.unknown.data.integrity.issue', message)
  }
  if (!ledger.books.transactionByExternalId.has(externalId)) return
  const code = 'validation.msg.loan.transaction.externalId.value.must.be.unique'
  const message = 'Failed data validation due to: value.must.be.unique.'
  throw invalid([fieldError(code, 'externalId', message, null)])
}

/** For a few weeks of 2025, Fineract lost the external id of a transaction that it did not replay. */
export function keptExternalId(ledger: Ledger, externalId: string | undefined) {
  return ledger.flags.has('lost-external-ids') ? undefined : externalId
}

export function postRepayment(ledger: Ledger, loan: Loan, repayment: NewRepayment): number {
  const { books } = ledger
  const { date, amount } = repayment
  const account = books.accountOf(loan)
  const isLast = !books
    .transactionsOf(loan)
    .some(tx => (isLiveRepayment(tx) || tx.type === 'chargeback') && tx.date > date)
  const id = books.nextId('transaction')
  books.saveTransaction({
    id,
    loanId: loan.id,
    officeId: clientById(ledger, loan.clientId).officeId,
    type: 'repayment',
    submittedOn: today(ledger),
    manuallyReversed: false,
    ...repayment,
    externalId: keptExternalId(ledger, repayment.externalId),
    ...(isLast ? allocate(account, amount, date) : NO_SPLIT),
  })
  if (!isLast) reallocate(ledger, loan, id)
  settleLoan(ledger, loan, date)
  return id
}
