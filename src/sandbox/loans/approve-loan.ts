import { joinedOfficeOn } from '../clients/client.ts'
import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { decimalOf } from '../fields/number.ts'
import { textOf, textsOf } from '../fields/text.ts'
import { domainRule, fieldError } from '../http/refusal.ts'
import { day } from '../http/wire.ts'
import { paise, rupees } from '../money.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { refuseInactiveClient } from './active-client.ts'
import type { Loan } from './loan.ts'
import { withNote } from './loan-note.ts'
import { loanResult } from './loan-result.ts'
import { netOf } from './net-of.ts'
import { scheduledAnew, withSchedule } from './schedule.ts'
import { APPROVED, SUBMITTED, statusView } from './status.ts'

const KEYS = new Set(
  `loanId approvedLoanAmount approvedOnDate netDisbursalAmount note locale dateFormat
  disbursementData expectedDisbursementDate`.split(/\s+/),
)

export function approveLoan(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const approval = checkApproval(ledger, loan, body)
  const approved = approvedLoan(loan, approval)
  ledger.books.saveLoan(withNote(ledger, approved, approval.note))
  return loanResult(ledger, loan, { changes: changesOf(loan, approved, approval, body) })
}

type Approval = ReturnType<typeof readApproval>

function readApproval(loan: Loan, body: Body) {
  const sent = decimalOf(body, 'approvedLoanAmount')
  const net = decimalOf(body, 'netDisbursalAmount')
  const approvedOn = dateOf(body, 'approvedOnDate')
  const expectedOn = dateOf(body, 'expectedDisbursementDate')
  const amount = sent === undefined ? undefined : paise(sent, loan.terms.rounding)
  return { sent, net, amount, approvedOn, expectedOn, note: textOf(body, 'note') }
}

/** As in Fineract, dates are checked before the state is reported: a second approval may be 403 or 400. */
function checkApproval(ledger: Ledger, loan: Loan, body: Body): Approval & { approvedOn: string } {
  const check = checks('loanapplication')
  const approval = readApproval(loan, body)
  const { sent, net, approvedOn, expectedOn = loan.expectedDisbursementDate } = approval
  check.positive('approvedLoanAmount', sent)
  check.positive('netDisbursalAmount', net)
  check.required('approvedOnDate', approvedOn)
  check.atMost('note', approval.note, 1000)
  const client = refuseInactiveClient(ledger, loan.clientId)
  if (approvedOn !== undefined && approvedOn < loan.submittedOn) {
    const message = `Loan approval date ${approvedOn} can not be before its submittal date: ${loan.submittedOn}`
    throw refusal('approval.cannot.be.before.submittal.date', message, approvedOn, loan.submittedOn)
  }
  // Compared as sent, with all its decimals.
  if (sent?.gt(rupees(loan.proposedPrincipal))) {
    const message = `Loan approved amount can't be greater than loan amount demanded.`
    const amounts = [rupees(loan.proposedPrincipal), sent.toNumber()]
    const code = `approval.amount.can't.be.greater.than.loan.amount.demanded`
    throw refusal(code, message, ...amounts)
  }
  if (approvedOn !== undefined) refuseDay(approvedOn, expectedOn, joinedOfficeOn(client), ledger)
  if (loan.status !== SUBMITTED) for (const error of notSubmitted()) check.add(error)
  check.throwIfAny()
  return { ...approval, approvedOn: approvedOn ?? '' }
}

function refuseDay(
  approvedOn: string,
  expectedOn: string,
  joinedOn: string | undefined,
  ledger: Ledger,
): void {
  if (expectedOn < approvedOn) {
    const message = `The expected disbursement date ${expectedOn} should be either on or after the approval date: ${approvedOn}`
    const code = 'expecteddisbursal.should.be.on.or.after.approval.date'
    throw refusal(code, message, approvedOn, expectedOn)
  }
  if (joinedOn !== undefined && approvedOn < joinedOn) {
    const message = `The date on which a loan is approved cannot be earlier than client's transfer date to this office`
    throw refusal('approval.cannot.be.before.client.transfer.date', message, joinedOn)
  }
  if (approvedOn > today(ledger)) {
    const message = 'The date on which a loan is approved cannot be in the future.'
    throw refusal('approval.cannot.be.a.future.date', message, approvedOn)
  }
}

function approvedLoan(loan: Loan, approval: Approval & { approvedOn: string }): Loan {
  const { amount = loan.principal, approvedOn, expectedOn } = approval
  const expectedDisbursementDate = expectedOn ?? loan.expectedDisbursementDate
  const made = amount !== loan.principal || expectedOn !== undefined
  const scheduled = scheduledAnew(loan, amount, expectedDisbursementDate)
  const before = made ? withSchedule(loan, scheduled) : loan
  return {
    ...before,
    status: APPROVED,
    principal: amount,
    approvedPrincipal: amount,
    netDisbursalAmount: netOf(before),
    approvedOn,
    expectedDisbursementDate,
  }
}

function changesOf(before: Loan, after: Loan, approval: Approval, body: Body) {
  const { sent, expectedOn, note } = approval
  const ofAmount =
    sent === undefined
      ? {}
      : {
          principal: sent.toNumber(),
          approvedLoanAmount: sent.toNumber(),
          // The value before this approval.
          netDisbursalAmount: rupees(before.netDisbursalAmount),
        }
  return {
    ...ofAmount,
    note,
    expectedDisbursementDate: day(expectedOn),
    ...textsOf(body, 'dateFormat', 'approvedOnDate', 'locale'),
    status: statusView(after.status),
  }
}

function notSubmitted() {
  const code = 'error.msg.loan.approve.account.is.not.submitted.and.pending.state'
  const message =
    'Loan Account Approval is not allowed. Loan Account is not in submitted and pending approval state.'
  return [fieldError(code, 'id', message), fieldError(code, 'id', 'Loan is already approved.')]
}

const refusal = (code: string, message: string, ...args: unknown[]) =>
  domainRule(`error.msg.loan.${code}`, message, ...args)
