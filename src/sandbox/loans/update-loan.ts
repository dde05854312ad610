import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { type Checks, checks } from '../fields/checks.ts'
import { idOf, plainIntegerOf } from '../fields/number.ts'
import { isSent } from '../fields/text.ts'
import {
  containerError,
  domainRule,
  fieldError,
  integrityIssue,
  unknownIntegrityIssue,
} from '../http/refusal.ts'
import { checkOwnTerms } from '../reference/own-terms.ts'
import type { Product } from '../reference/product.ts'
import { productById, refuseClosedProduct } from '../reference/products.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { refuseInactiveClient } from './active-client.ts'
import { changedLoan } from './changed-loan.ts'
import { checkLimits, refuseTerm } from './limits.ts'
import type { Loan } from './loan.ts'
import { checkLoanCharges, numberCharges } from './loan-charges.ts'
import { UPDATE_KEYS } from './loan-keys.ts'
import { LOAN_TYPES, type LoanRequest, readLoanRequest, requestFor } from './loan-request.ts'
import { loanResult } from './loan-result.ts'
import { AT_LEAST_ONE, CHOICES, refuseFirstRepayment } from './new-loan.ts'
import { checkFixedShare, checkGrace, refuseFixedEmi } from './shape.ts'
import { SUBMITTED } from './status.ts'
import { refuseStrategy } from './strategy.ts'
import { refuseSubmission } from './submission.ts'

/** A schedule is rebuilt from the request alone: whatever the request leaves out is missing from it. */
export function updateLoan(ledger: Ledger, loan: Loan, body: Body) {
  refuseUnknownKeys(body, UPDATE_KEYS)
  if (loan.status !== SUBMITTED) {
    const message = `Loan application with identifier ${loan.id} cannot be modified in its current state.`
    throw domainRule('error.msg.loan.cannot.modify.loan.in.its.present.state', message, loan.id)
  }
  const product = productById(ledger, idOf(body, 'productId') ?? loan.productId)
  refuseFixedEmi(product, body)
  const request = requestFor(product, readLoanRequest(body))
  checkUpdate(ledger, loan, product, request, body)
  const { changed, changes, isRebuilt } = changedLoan(ledger, loan, product, request, body)
  if (isRebuilt) refuseWithoutSchedule(request, changed)
  else refuseTerm(changed.terms)
  ledger.books.saveLoan({ ...changed, charges: numberCharges(ledger, changed.charges) })
  return loanResult(ledger, changed, { changes })
}

function checkUpdate(
  ledger: Ledger,
  loan: Loan,
  product: Product,
  request: LoanRequest,
  body: Body,
): void {
  const client =
    request.clientId === undefined ? undefined : refuseInactiveClient(ledger, request.clientId)
  const check = checkFields(request, body)
  checkOwnTerms(check, request.shape)
  checkLoanCharges(check, body)
  const submittedOn = request.submittedOnDate ?? loan.submittedOn
  const expectedOn = request.expectedDisbursementDate ?? loan.expectedDisbursementDate
  refuseSubmission(submittedOn, expectedOn, client, today(ledger))
  refuseClosedProduct(product, submittedOn)
  checkLimits(check, product, request, body)
  checkGrace(check, request.shape, request.numberOfRepayments)
  checkFixedShare(check, request.shape, request.amortizationType)
  check.throwIfAny()
  refuseFirstRepayment(request)
}

const RATE_FREQUENCY = 'interestRateFrequencyType'
const NOT_EMPTY = [
  'expectedDisbursementDate',
  'submittedOnDate',
  'transactionProcessingStrategyCode',
] as const
const NOT_COUNTED = new Set(['loanType', 'locale', 'dateFormat'])

function checkFields(request: LoanRequest, body: Body) {
  const check = checks('loan')
  checkLoanType(check, request.loanType)
  check.atMost('externalId', request.externalId, 100)
  check.atMost('submittedOnNote', request.submittedOnNote, 500)
  if (isSent(body, 'principal')) check.required('principal', request.principal)
  check.positive('principal', request.principal)
  for (const name of AT_LEAST_ONE) {
    if (isSent(body, name)) check.required(name, request[name])
    check.positive(name, request[name])
  }
  for (const [name, most] of CHOICES) {
    if (isSent(body, name)) check.required(name, request[name])
    check.within(name, request[name], 0, most)
  }
  const rateFrequency = plainIntegerOf(body, RATE_FREQUENCY)
  if (isSent(body, RATE_FREQUENCY)) check.required(RATE_FREQUENCY, rateFrequency)
  check.within(RATE_FREQUENCY, rateFrequency, 0, 3)
  for (const name of NOT_EMPTY) if (isSent(body, name)) check.required(name, request[name])
  if (request.transactionProcessingStrategyCode !== undefined)
    refuseStrategy(request.transactionProcessingStrategyCode)
  if (!Object.keys(body).some(key => !NOT_COUNTED.has(key))) {
    const code = 'validation.msg.loan.no.parameters.for.update'
    check.add(fieldError(code, 'id', 'No parameters passed for update.'))
  }
  return check
}

function checkLoanType(check: Checks, loanType: string | undefined): void {
  check.required('loanType', loanType)
  if (loanType === undefined || LOAN_TYPES.includes(loanType.toLowerCase())) return
  const message = `The parameter \`loanType\` must be one of [ ${LOAN_TYPES.join(', ')} ] .`
  check.fail('loanType', 'is.not.one.of.expected.enumerations', message, loanType, LOAN_TYPES)
}

function refuseWithoutSchedule(request: LoanRequest, changed: Pick<Loan, 'terms'>): void {
  if (request.productId === undefined)
    throw integrityIssue('error.msg.data.integrity.issue', 'The given id must not be null')
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
  if (request.clientId === undefined) throw unknownIntegrityIssue()
}
