import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { textOf } from '../fields/text.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'
import { withNote } from './loan-note.ts'
import { loanResult } from './loan-result.ts'
import { netOf } from './net-of.ts'
import { rescheduled } from './rescheduled.ts'
import { ACTIVE, APPROVED, statusView } from './status.ts'

const KEYS = new Set(['note', 'locale', 'dateFormat'])

/** The transactions posted since leave the loan's list, but their external ids stay reserved. */
export function undoDisbursal(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, KEYS)
  if (loan.status !== ACTIVE) {
    const message = 'Loan Undo disbursal is not allowed. Loan Account is not active.'
    throw invalid([
      fieldError('error.msg.loan.undo.disbursal.account.is.not.active', 'id', message),
    ])
  }
  const { books } = ledger
  for (const transaction of books.transactionsOf(loan)) {
    const reversedOn = transaction.reversedOn ?? today(ledger)
    books.saveTransaction({ ...transaction, reversedOn, unlisted: true })
  }
  const principal = loan.approvedPrincipal
  const made = rescheduled(loan, principal, loan.expectedDisbursementDate)
  const approved: Loan = {
    ...made,
    status: APPROVED,
    principal,
    netDisbursalAmount: netOf(made),
    disbursedOn: undefined,
  }
  books.saveLoan(withNote(ledger, approved, textOf(body, 'note')))
  const changes = { status: statusView(APPROVED), actualDisbursementDate: '' }
  return loanResult(ledger, loan, { changes })
}
