import type { Body } from '../fields/body.ts'
import { type Checks, checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { decimalOf, integerOf } from '../fields/number.ts'
import { textAsSent, textOf, textsOf } from '../fields/text.ts'
import type { Loan } from '../loans/loan.ts'
import { paise } from '../money.ts'
import { paymentTypeById } from '../reference/payment-types.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { PaymentDetail } from './transaction.ts'

const DETAILS = [
  'accountNumber',
  'checkNumber',
  'routingCode',
  'receiptNumber',
  'bankNumber',
] as const

export const PAYMENT_KEYS = ['paymentTypeId', ...DETAILS]

export function checkPayment(check: Checks, body: Body): void {
  check.positive('paymentTypeId', integerOf(body, 'paymentTypeId'))
  for (const name of DETAILS) check.atMost(name, textOf(body, name), 50)
}

/** Without a payment type, Fineract drops all payment details, including the receipt number. */
export function readPayment(ledger: Ledger, body: Body): PaymentDetail | undefined {
  const paymentTypeId = integerOf(body, 'paymentTypeId')
  if (paymentTypeId === undefined) return undefined
  paymentTypeById(ledger, paymentTypeId)
  const details = DETAILS.map(name => [name, textOf(body, name) ?? ''])
  return { paymentTypeId, ...Object.fromEntries(details) }
}

export function readRepayment(loan: Loan, body: Body, amountIs: 'positive' | 'zeroOrMore') {
  const check = checks('loan.transaction')
  const date = dateOf(body, 'transactionDate')
  check.required('transactionDate', date)
  const amount = decimalOf(body, 'transactionAmount')
  check.required('transactionAmount', amount)
  check[amountIs]('transactionAmount', amount)
  check.atMost('note', textOf(body, 'note'), 1000)
  check.atMost('reversalExternalId', textOf(body, 'reversalExternalId'), 100)
  checkPayment(check, body)
  check.throwIfAny()
  return { date: date ?? '', amount: amount === undefined ? 0 : paise(amount, loan.terms.rounding) }
}

export const repaymentAsChanges = (body: Body, payment: PaymentDetail | undefined) => ({
  transactionAmount: textAsSent(body, 'transactionAmount'),
  ...textsOf(body, 'transactionDate', 'locale', 'dateFormat', 'note'),
  ...paymentAsChanges(payment),
})

export function paymentAsChanges(payment: PaymentDetail | undefined): Partial<PaymentDetail> {
  if (!payment) return {}
  return Object.fromEntries(Object.entries(payment).filter(([, value]) => value !== ''))
}
