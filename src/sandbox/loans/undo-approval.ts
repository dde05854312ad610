import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { textOf } from '../fields/text.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import { rupees } from '../money.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'
import { withNote } from './loan-note.ts'
import { loanResult } from './loan-result.ts'
import { netOf } from './net-of.ts'
import { withSchedule } from './schedule.ts'
import { APPROVED, SUBMITTED, statusView } from './status.ts'

const KEYS = new Set(['note'])

export function undoApproval(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const note = textOf(body, 'note')
  const check = checks('loanapplication.undo')
  check.atMost('note', note, 1000)
  check.throwIfAny()
  if (loan.status !== APPROVED) {
    const message =
      'Loan Account Undo Approval is not allowed. Loan Account is not in approved state.'
    throw invalid([
      fieldError('error.msg.loan.undo.approval.account.is.not.approved', 'id', message),
    ])
  }
  const submitted = asSubmitted(loan)
  ledger.books.saveLoan(withNote(ledger, submitted, note))
  const changes = { status: statusView(SUBMITTED), approvedOnDate: '', ...amountAsChanges(loan) }
  return loanResult(ledger, loan, { changes })
}

function amountAsChanges({ principal, proposedPrincipal }: Loan) {
  if (proposedPrincipal === principal) return {}
  const proposed = rupees(proposedPrincipal)
  return { approvedLoanAmount: proposed, principal: proposed }
}

function asSubmitted(loan: Loan): Loan {
  const proposed = loan.proposedPrincipal
  const undone = { ...loan, status: SUBMITTED, approvedOn: undefined }
  if (proposed === loan.principal) return undone
  const made = withSchedule(undone, { ...loan.scheduled, principal: proposed })
  return {
    ...made,
    principal: proposed,
    approvedPrincipal: proposed,
    netDisbursalAmount: netOf(made),
  }
}
