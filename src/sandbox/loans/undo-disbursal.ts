import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { textOf } from '../fields/text.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'
import { withNote } from './loan-note.ts'
import { loanResult } from './loan-result.ts'
import { makeSchedule } from './schedule.ts'
import { ACTIVE, APPROVED, statusView } from './status.ts'

const KEYS = new Set(['note', 'locale', 'dateFormat'])

/** Everything posted since is taken back: it leaves the loan's list, and keeps its external id. */
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
  const from = loan.expectedDisbursementDate
  const { interestRatePerPeriod } = loan.terms
  const approved: Loan = {
    ...loan,
    status: APPROVED,
    principal,
    netDisbursalAmount: principal,
    disbursedOn: undefined,
    scheduled: { principal, interestRatePerPeriod, from },
    expectedMaturityDate: makeSchedule(loan.terms, principal, from, loan.charges).at(-1)?.due,
  }
  books.saveLoan(withNote(ledger, approved, textOf(body, 'note')))
  const changes = { status: statusView(APPROVED), actualDisbursementDate: '' }
  return loanResult(loan, { changes })
}
