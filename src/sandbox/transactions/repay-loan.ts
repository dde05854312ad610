import { clientById } from '../clients/find-client.ts'
import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { decimalOf } from '../fields/number.ts'
import { textOf } from '../fields/text.ts'
import type { Loan } from '../loans/loan.ts'
import { paise } from '../money.ts'
import type { Ledger } from '../storage/ledger.ts'
import { checkPayment, PAYMENT_KEYS, readPayment, repaymentAsChanges } from './payment-detail.ts'
import { postRepayment, refuseRepayment, refuseTransactionExternalId } from './post-repayment.ts'

const KEYS = new Set([
  ...PAYMENT_KEYS,
  ...'transactionDate transactionAmount externalId note locale dateFormat loanId'.split(' '),
])

export function repayLoan(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const { date, amount } = checkFields(loan, body)
  const payment = readPayment(ledger, body)
  const note = textOf(body, 'note')
  const externalId = textOf(body, 'externalId')
  refuseRepayment(ledger, loan, date)
  refuseTransactionExternalId(ledger, externalId)
  const id = postRepayment(ledger, loan, { date, amount, externalId, note, payment })
  return {
    officeId: clientById(ledger, loan.clientId).officeId,
    clientId: loan.clientId,
    loanId: loan.id,
    resourceId: id,
    changes: { ...repaymentAsChanges(body, payment), externalId },
    resourceExternalId: externalId,
  }
}

function checkFields(loan: Loan, body: Body) {
  const check = checks('loan.transaction')
  const date = dateOf(body, 'transactionDate')
  check.required('transactionDate', date)
  const amount = decimalOf(body, 'transactionAmount')
  check.required('transactionAmount', amount)
  check.positive('transactionAmount', amount)
  check.atMost('note', textOf(body, 'note'), 1000)
  checkPayment(check, body)
  check.throwIfAny()
  return { date: date ?? '', amount: amount === undefined ? 0 : paise(amount, loan.terms.rounding) }
}
