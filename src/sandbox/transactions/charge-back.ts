import { clientById } from '../clients/find-client.ts'
import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { decimalOf } from '../fields/number.ts'
import { textAsSent, textOf } from '../fields/text.ts'
import { unavailable } from '../http/refusal.ts'
import type { Loan } from '../loans/loan.ts'
import { loanResult } from '../loans/loan-result.ts'
import { paise, sum } from '../money.ts'
import { isLiveRepayment } from '../storage/books.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { checkPayment, PAYMENT_KEYS, paymentAsChanges, readPayment } from './payment-detail.ts'
import { refuseTransactionExternalId } from './post-repayment.ts'
import { settleLoan } from './settle-loan.ts'
import { NO_SPLIT, type Transaction } from './transaction.ts'

const KEYS = new Set([...PAYMENT_KEYS, 'transactionAmount', 'externalId', 'note', 'locale'])

/** The payer took a repayment back: what it paid is owed again, from today. */
export function chargeBack(ledger: Ledger, loan: Loan, transaction: Transaction, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const amount = readAmount(loan, body)
  const payment = readPayment(ledger, body)
  refuseChargeback(loan, transaction, amount)
  const externalId = textOf(body, 'externalId')
  refuseTransactionExternalId(ledger, externalId)
  const { books } = ledger
  const { officeId } = clientById(ledger, loan.clientId)
  const id = books.nextId('transaction')
  const chargeback = { type: 'CHARGEBACK' as const, amount, to: id }
  const relations = [...(transaction.relations ?? []), chargeback]
  books.saveTransaction({ ...transaction, relations })
  const balance = books.accountOf(loan).balance + amount
  const facts = { id, loanId: loan.id, officeId, date: today(ledger), amount, externalId, payment }
  const state = { submittedOn: today(ledger), manuallyReversed: false }
  const split = { ...NO_SPLIT, principal: amount, balance }
  books.saveTransaction({ ...split, ...facts, ...state, type: 'chargeback' })
  books.forgetAccount(loan)
  settleLoan(ledger, loan, today(ledger))
  const changes = {
    transactionAmount: textAsSent(body, 'transactionAmount'),
    locale: textOf(body, 'locale'),
    dateFormat: '',
    ...paymentAsChanges(payment),
  }
  return loanResult(ledger, loan, { resourceId: id, changes, resourceExternalId: externalId })
}

function readAmount(loan: Loan, body: Body): number {
  const check = checks('loan.transaction')
  const amount = decimalOf(body, 'transactionAmount')
  check.required('transactionAmount', amount)
  check.positive('transactionAmount', amount)
  checkPayment(check, body)
  check.throwIfAny()
  return amount === undefined ? 0 : paise(amount, loan.terms.rounding)
}

function refuseChargeback(loan: Loan, transaction: Transaction, amount: number): void {
  const refusal = (why: string) => {
    const message = `Loan transaction:${transaction.id} chargeback not allowed as loan ${why}`
    return unavailable('error.msg.loan.chargeback.operation.not.allowed', message)
  }
  if (loan.terms.recalculates) throw refusal('product is interest recalculation enabled')
  if (!isLiveRepayment(transaction)) throw refusal('transaction repayment is reversed')
  const back = (transaction.relations ?? []).filter(({ type }) => type === 'CHARGEBACK')
  if (sum(back.map(one => one.amount)) + amount > transaction.amount)
    throw refusal('transaction amount is not enough')
}
