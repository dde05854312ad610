import { clientById } from '../clients/find-client.ts'
import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { isSent, textOf } from '../fields/text.ts'
import { containerError, domainRule, fieldError, integrityIssue } from '../http/refusal.ts'
import { refuseUnknownProduct } from '../reference/products.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { changedLoan } from './changed-loan.ts'
import { checkGrace, checkLimits, refuseTerm } from './limits.ts'
import type { Loan } from './loan.ts'
import { chargesAsChanges, numberCharges } from './loan-charges.ts'
import { UPDATE_KEYS } from './loan-keys.ts'
import { type LoanRequest, readLoanRequest } from './loan-request.ts'
import { loanResult } from './loan-result.ts'
import { SUBMITTED } from './status.ts'
import { refuseStrategy } from './strategy.ts'
import { refuseSubmission } from './submission.ts'

const MONTHS = 2

/** An update makes the schedule anew from the request alone: what it leaves out is missing there. */
export function updateLoan(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, UPDATE_KEYS)
  if (loan.status !== SUBMITTED) {
    const message = `Loan application with identifier ${loan.id} cannot be modified in its current state.`
    throw domainRule('error.msg.loan.cannot.modify.loan.in.its.present.state', message, loan.id)
  }
  const request = readLoanRequest(body)
  checkUpdate(ledger, loan, request, body)
  const { changed, changes } = changedLoan(ledger, loan, request, body)
  const nothing = Object.keys(changes).length === 0
  if (nothing && loan.terms.repaymentFrequencyType !== MONTHS) return loanResult(loan, { changes })
  refuseWithoutSchedule(request, changed)
  ledger.books.saveLoan({ ...changed, charges: numberCharges(ledger, changed.charges) })
  const charges = chargesAsChanges(changed.charges)
  return loanResult(changed, { changes: { ...changes, charges, locale: textOf(body, 'locale') } })
}

function checkUpdate(ledger: Ledger, loan: Loan, request: LoanRequest, body: Body): void {
  if (request.productId !== undefined) refuseUnknownProduct(request.productId)
  const client = request.clientId === undefined ? undefined : clientById(ledger, request.clientId)
  const check = checkFields(request, body)
  const submittedOn = request.submittedOnDate ?? loan.submittedOn
  refuseSubmission(submittedOn, request.expectedDisbursementDate, client, today(ledger))
  checkLimits(check, request, body)
  checkGrace(check, request.numberOfRepayments)
  check.throwIfAny()
}

const AT_LEAST_ONE = ['loanTermFrequency', 'numberOfRepayments', 'repaymentEvery'] as const
const CHOICES = [
  ['loanTermFrequencyType', 3],
  ['repaymentFrequencyType', 3],
  ['interestType', 1],
  ['interestCalculationPeriodType', 1],
  ['amortizationType', 1],
] as const
const DATES = ['expectedDisbursementDate', 'submittedOnDate'] as const
const NOT_COUNTED = new Set(['loanType', 'locale', 'dateFormat'])

function checkFields(request: LoanRequest, body: Body) {
  const check = checks('loan')
  check.required('loanType', request.loanType)
  check.atMost('externalId', request.externalId, 100)
  check.atMost('submittedOnNote', request.submittedOnNote, 500)
  for (const name of AT_LEAST_ONE) {
    if (isSent(body, name)) check.required(name, request[name])
    check.positive(name, request[name])
  }
  for (const [name, most] of CHOICES) {
    if (isSent(body, name)) check.required(name, request[name])
    check.within(name, request[name], 0, most)
  }
  for (const name of DATES) if (isSent(body, name)) check.required(name, request[name])
  if (request.transactionProcessingStrategyCode !== undefined) {
    refuseStrategy(request.transactionProcessingStrategyCode)
  }
  if (!Object.keys(body).some(key => !NOT_COUNTED.has(key))) {
    const code = 'validation.msg.loan.no.parameters.for.update'
    check.add(fieldError(code, 'id', 'No parameters passed for update.'))
  }
  return check
}

function refuseWithoutSchedule(request: LoanRequest, changed: Pick<Loan, 'terms'>): void {
  if (request.productId === undefined) {
    throw integrityIssue('error.msg.data.integrity.issue', 'The given id must not be null')
  }
  const needed = [
    request.numberOfRepayments,
    request.repaymentEvery,
    request.interestType,
    request.interestCalculationPeriodType,
    request.amortizationType,
    request.expectedDisbursementDate,
  ]
  if (needed.includes(undefined)) throw containerError(500)
  refuseTerm({ ...changed.terms, repaymentFrequencyType: request.repaymentFrequencyType })
  if (request.clientId === undefined) {
    const message = 'Unknown data integrity issue with resource.'
    throw integrityIssue('error.msg.unknown.data.integrity.issue', message)
  }
}
