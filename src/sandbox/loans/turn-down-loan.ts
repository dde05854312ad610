import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { textOf, textsOf } from '../fields/text.ts'
import { domainRule, fieldError, invalid } from '../http/refusal.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import type { Loan } from './loan.ts'
import { withNote } from './loan-note.ts'
import { loanResult } from './loan-result.ts'
import { REJECTED, SUBMITTED, statusView, WITHDRAWN } from './status.ts'

type Decline = {
  date: string
  status: number
  verb: string
  done: string
  notSubmitted: [code: string, message: string]
}

const reject: Decline = {
  date: 'rejectedOnDate',
  status: REJECTED,
  verb: 'reject',
  done: 'rejected',
  notSubmitted: [
    'error.msg.loan.reject.account.is.not.submitted.pending.approval.state',
    'Loan application cannot be rejected. Loan Account is not in Submitted and Pending approval state.',
  ],
}

const withdraw: Decline = {
  date: 'withdrawnOnDate',
  status: WITHDRAWN,
  verb: 'withdraw',
  done: 'withdrawn',
  notSubmitted: [
    'error.msg.loan.withdrawn.account.is.not.submitted.pending.approval.state',
    'Loan application cannot be withdrawn. Loan Account is not in Submitted and Pending approval state.',
  ],
}

export function rejectLoan(ledger: Ledger, loan: Loan, body: Body) {
  return turnDown(ledger, loan, body, reject)
}

export function withdrawLoan(ledger: Ledger, loan: Loan, body: Body) {
  return turnDown(ledger, loan, body, withdraw)
}

function turnDown(ledger: Ledger, loan: Loan, body: Body, decline: Decline) {
  refuseUnknownKeys(body, new Set([decline.date, 'note', 'locale', 'dateFormat']))
  const check = checks('loanapplication')
  const closedOn = dateOf(body, decline.date)
  const note = textOf(body, 'note')
  check.required(decline.date, closedOn)
  check.atMost('note', note, 1000)
  check.throwIfAny()
  if (loan.status !== SUBMITTED) {
    const [code, message] = decline.notSubmitted
    throw invalid([fieldError(code, 'id', message)])
  }
  refuseDay(ledger, loan, decline, closedOn ?? '')
  const closed = { ...loan, status: decline.status, closedOn }
  ledger.books.saveLoan(withNote(ledger, closed, note))
  const changes = {
    status: statusView(decline.status),
    ...textsOf(body, 'locale', 'dateFormat', decline.date),
    closedOnDate: textOf(body, decline.date),
    note,
  }
  return loanResult(ledger, loan, { changes })
}

function refuseDay(ledger: Ledger, loan: Loan, decline: Decline, closedOn: string): void {
  const code = `error.msg.loan.${decline.verb}.cannot.be`
  const message = `The date on which a loan is ${decline.done} cannot be`
  if (closedOn < loan.submittedOn) {
    const detail = `${message} before its submittal date: ${loan.submittedOn}`
    throw domainRule(`${code}.before.submittal.date`, detail, closedOn, loan.submittedOn)
  }
  if (closedOn > today(ledger))
    throw domainRule(`${code}.a.future.date`, `${message} in the future.`, closedOn)
}
