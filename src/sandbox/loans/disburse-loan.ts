import { joinedOfficeOn } from '../clients/client.ts'
import { accountNo } from '../clients/client-view.ts'
import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { decimalOf } from '../fields/number.ts'
import { textOf, textsOf } from '../fields/text.ts'
import { domainRule, fieldError, integrityIssue } from '../http/refusal.ts'
import { paise, rupees } from '../money.ts'
import { productById } from '../reference/products.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import {
  checkPayment,
  PAYMENT_KEYS,
  paymentAsChanges,
  readPayment,
} from '../transactions/payment-detail.ts'
import { postDisbursement } from '../transactions/post-disbursement.ts'
import { keptExternalId } from '../transactions/post-repayment.ts'
import { refuseInactiveClient } from './active-client.ts'
import type { Loan } from './loan.ts'
import { withNote } from './loan-note.ts'
import { loanResult } from './loan-result.ts'
import { netOf } from './net-of.ts'
import { rescheduled } from './rescheduled.ts'
import { ACTIVE, APPROVED, statusView } from './status.ts'

const KEYS = new Set([
  ...PAYMENT_KEYS,
  ...`actualDisbursementDate externalId note locale dateFormat adjustRepaymentDate transactionAmount
  fixedEmiAmount postDatedChecks netDisbursalAmount`.split(/\s+/),
])

export function disburseLoan(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const disbursedOn = checkFields(ledger, loan, body)
  const payment = readPayment(ledger, body)
  const amount = readAmount(ledger, loan, body)
  refuseDay(ledger, loan, disbursedOn)
  const externalId = textOf(body, 'externalId')
  refuseExternalId(ledger, externalId)
  const note = textOf(body, 'note')
  const disbursed = disbursedLoan(loan, amount, disbursedOn)
  ledger.books.saveLoan(withNote(ledger, disbursed, note))
  const subResourceId = postDisbursement(ledger, disbursed, {
    externalId: keptExternalId(ledger, externalId),
    payment,
  })
  const changes = {
    ...paymentAsChanges(payment),
    ...textsOf(body, 'locale', 'dateFormat', 'actualDisbursementDate'),
    status: statusView(ACTIVE),
    note,
  }
  return {
    ...loanResult(ledger, loan, { subResourceId, changes }),
    subResourceExternalId: externalId,
  }
}

/**
 * As in Fineract, a wrong state is reported together with invalid fields, before amount and day are
 * checked; a day before the approval is reported before either.
 */
function checkFields(ledger: Ledger, loan: Loan, body: Body): string {
  const check = checks('loan.disbursement')
  const disbursedOn = dateOf(body, 'actualDisbursementDate')
  check.required('actualDisbursementDate', disbursedOn)
  check.atMost('note', textOf(body, 'note'), 1000)
  check.positive('transactionAmount', decimalOf(body, 'transactionAmount'))
  check.positive('netDisbursalAmount', decimalOf(body, 'netDisbursalAmount'))
  checkPayment(check, body)
  refuseInactiveClient(ledger, loan.clientId)
  if (loan.status !== APPROVED) {
    const code = 'error.msg.loan.disbursal.account.is.not.approve.not.disbursed.state'
    const message =
      'Loan Disbursal is not allowed. Loan Account is not in approved and not disbursed state.'
    check.add(fieldError(code, 'id', message))
  }
  const { approvedOn } = loan
  if (disbursedOn !== undefined && approvedOn !== undefined && disbursedOn < approvedOn) {
    const message = `The date on which a loan is disbursed cannot be before its approval date: ${approvedOn}`
    const code = 'error.msg.loan.disbursal.cannot.be.before.approval.date'
    throw domainRule(code, message, disbursedOn, approvedOn)
  }
  check.throwIfAny()
  return disbursedOn ?? ''
}

function readAmount(ledger: Ledger, loan: Loan, body: Body): number {
  const sent = decimalOf(body, 'transactionAmount')
  const amount = sent === undefined ? loan.approvedPrincipal : paise(sent, loan.terms.rounding)
  if (amount > loan.approvedPrincipal) {
    const message = `Loan can't be disbursed,disburse amount is exceeding approved amount `
    const [code = 'disburse.amount.must.be.less.than.approved.amount'] =
      ledger.flags.get('over-disbursal') ?? []
    throw domainRule(`error.msg.loan.${code}`, message, rupees(amount), rupees(amount))
  }
  return amount
}

function refuseDay(ledger: Ledger, loan: Loan, disbursedOn: string): void {
  const joinedOn = joinedOfficeOn(refuseInactiveClient(ledger, loan.clientId))
  if (joinedOn !== undefined && disbursedOn < joinedOn) {
    const message = `The date on which a loan is disbursed cannot be earlier than client's transfer date to this office`
    const code = 'error.msg.loan.disbursal.cannot.be.before.client.transfer.date'
    throw domainRule(code, message, joinedOn)
  }
  if (disbursedOn > today(ledger)) {
    const message = `The date on which a loan with identifier : ${accountNo(loan.id)} is disbursed cannot be in the future.`
    throw domainRule('error.msg.loan.disbursal.cannot.be.a.future.date', message, disbursedOn)
  }
  const { expectedDisbursementDate } = loan
  if (isSynchronized(ledger, loan) && disbursedOn !== expectedDisbursementDate) {
    const message = `Actual disbursement date  (${disbursedOn}) should be equal to Expected disbursal date (${expectedDisbursementDate})`
    const code = 'error.msg.actual.disbursement.date.does.not.match.with.expected.disbursal.date'
    throw domainRule(code, message, disbursedOn, expectedDisbursementDate)
  }
}

const isSynchronized = (ledger: Ledger, { productId }: Loan): boolean =>
  productById(ledger, productId).syncExpectedWithDisbursementDate

function refuseExternalId(ledger: Ledger, externalId: string | undefined): void {
  if (externalId === undefined) return
  if (ledger.books.transactionByExternalId.has(externalId)) {
    const message = `Disbursement: externalId \`${externalId}\` already exists`
    const code = 'error.msg.loan.disbursement.duplicate.externalId'
    throw integrityIssue(code, message, 'externalId', externalId)
  }
  if (externalId.length > 100) {
    const message = 'Unknown data integrity issue with resource: Disbursement'
    throw integrityIssue('error.msg.loan.disbursement.unknown.data.integrity.issue', message)
  }
}

function disbursedLoan(loan: Loan, principal: number, disbursedOn: string): Loan {
  const made = rescheduled(loan, principal, disbursedOn)
  return { ...made, status: ACTIVE, principal, netDisbursalAmount: netOf(made), disbursedOn }
}
