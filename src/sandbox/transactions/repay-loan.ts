import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { textOf } from '../fields/text.ts'
import type { Loan } from '../loans/loan.ts'
import { loanResult } from '../loans/loan-result.ts'
import type { Ledger } from '../storage/ledger.ts'
import { PAYMENT_KEYS, readPayment, readRepayment, repaymentAsChanges } from './payment-detail.ts'
import { postRepayment, refuseRepayment, refuseTransactionExternalId } from './post-repayment.ts'

const KEYS = new Set([
  ...PAYMENT_KEYS,
  ...'transactionDate transactionAmount externalId note locale dateFormat loanId'.split(' '),
])

export function repayLoan(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const { date, amount } = readRepayment(loan, body, 'positive')
  const payment = readPayment(ledger, body)
  const note = textOf(body, 'note')
  const externalId = textOf(body, 'externalId')
  refuseRepayment(ledger, loan, date)
  refuseTransactionExternalId(ledger, externalId)
  const id = postRepayment(ledger, loan, { date, amount, externalId, note, payment })
  return loanResult(ledger, loan, {
    resourceId: id,
    changes: { ...repaymentAsChanges(body, payment), externalId },
    resourceExternalId: externalId,
  })
}
