import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { idOf } from '../fields/number.ts'
import { domainRule, fieldError, invalid, notSupported } from '../http/refusal.ts'
import { paise } from '../money.ts'
import { refuseUnknownProduct } from '../reference/products.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { refuseInactiveClient } from './active-client.ts'
import { checkGrace, checkLimits, refuseTerm } from './limits.ts'
import type { Loan, LoanTerms } from './loan.ts'
import { readLoanCharges } from './loan-charges.ts'
import { CREATE_KEYS } from './loan-keys.ts'
import { LOAN_TYPES, type LoanRequest, readLoanRequest } from './loan-request.ts'
import { makeSchedule } from './schedule.ts'
import { SUBMITTED } from './status.ts'
import { refuseStrategy } from './strategy.ts'
import { refuseSubmission } from './submission.ts'

/** Does not save it. */
export function newLoan(ledger: Ledger, body: Body): Loan {
  refuseUnknownKeys(body, CREATE_KEYS)
  const productId = idOf(body, 'productId')
  if (productId === undefined) throw withoutProduct()
  refuseUnknownProduct(productId)
  const clientId = idOf(body, 'clientId')
  const client = clientId === undefined ? undefined : refuseInactiveClient(ledger, clientId)
  const request = readLoanRequest(body)
  const check = checkFields(request)
  if (request.transactionProcessingStrategyCode !== undefined) {
    refuseStrategy(request.transactionProcessingStrategyCode)
  }
  refuseTakenExternalId(ledger, request.externalId)
  const { submittedOnDate, expectedDisbursementDate } = request
  refuseSubmission(submittedOnDate, expectedDisbursementDate, client, today(ledger))
  checkLimits(check, request, body)
  checkGrace(check, request.numberOfRepayments)
  check.throwIfAny()
  return assemble(ledger, request as Complete, body)
}

type Complete = { [Name in keyof LoanRequest]: NonNullable<LoanRequest[Name]> }

const AT_LEAST_ONE = ['loanTermFrequency', 'numberOfRepayments', 'repaymentEvery'] as const
const CHOICES = [
  ['loanTermFrequencyType', 3],
  ['repaymentFrequencyType', 3],
  ['interestType', 1],
  ['interestCalculationPeriodType', 1],
  ['amortizationType', 1],
] as const
const NEEDED = [
  'interestRatePerPeriod',
  'expectedDisbursementDate',
  'submittedOnDate',
  'transactionProcessingStrategyCode',
] as const

function checkFields(request: LoanRequest) {
  const check = checks('loan')
  const { loanType } = request
  check.required('loanType', loanType)
  if (loanType !== undefined) check.within('loanType', LOAN_TYPES.indexOf(loanType) + 1, 1, 4)
  check.required('clientId', request.clientId)
  check.positive('clientId', request.clientId)
  check.atMost('externalId', request.externalId, 100)
  check.atMost('submittedOnNote', request.submittedOnNote, 500)
  for (const name of AT_LEAST_ONE) {
    check.required(name, request[name])
    check.positive(name, request[name])
  }
  for (const [name, most] of CHOICES) {
    check.required(name, request[name])
    check.within(name, request[name], 0, most)
  }
  for (const name of NEEDED) check.required(name, request[name])
  check.zeroOrMore('interestRatePerPeriod', request.interestRatePerPeriod)
  return check
}

function assemble(ledger: Ledger, request: Complete, body: Body): Loan {
  if (request.loanType !== 'individual') throw notSupported(`${request.loanType} loans`)
  refuseTerm(request)
  const rounding = ledger.roundings.get(request.productId)
  const principal = request.principal === undefined ? 0 : paise(request.principal, rounding)
  const interestRatePerPeriod = request.interestRatePerPeriod.toDecimalPlaces(6).toFixed()
  const terms: LoanTerms = {
    rounding,
    loanTermFrequency: request.loanTermFrequency,
    loanTermFrequencyType: request.loanTermFrequencyType,
    numberOfRepayments: request.numberOfRepayments,
    repaymentEvery: request.repaymentEvery,
    repaymentFrequencyType: request.repaymentFrequencyType,
    interestRatePerPeriod,
    interestType: request.interestType,
    interestCalculationPeriodType: request.interestCalculationPeriodType,
    amortizationType: request.amortizationType,
    transactionProcessingStrategyCode: request.transactionProcessingStrategyCode,
  }
  const charges = readLoanCharges(ledger, body, [])
  const from = request.expectedDisbursementDate
  return {
    id: 0,
    externalId: request.externalId,
    clientId: request.clientId,
    productId: request.productId,
    status: SUBMITTED,
    principal,
    proposedPrincipal: principal,
    approvedPrincipal: principal,
    netDisbursalAmount: principal,
    terms,
    scheduled: { principal, interestRatePerPeriod, from },
    expectedMaturityDate: makeSchedule(terms, principal, from, charges).at(-1)?.due,
    submittedOn: request.submittedOnDate,
    expectedDisbursementDate: from,
    charges,
    notes: request.submittedOnNote ? [{ id: 0, note: request.submittedOnNote }] : [],
  }
}

function refuseTakenExternalId(ledger: Ledger, externalId: string | undefined): void {
  if (externalId === undefined || !ledger.books.loanByExternalId.has(externalId)) return
  const message = 'Loan with externalId is already registered.'
  throw domainRule('error.msg.loan.with.externalId.already.used', message)
}

function withoutProduct() {
  const message = 'The parameter `productId` is mandatory.'
  return invalid([
    fieldError('validation.msg.loans.productId.cannot.be.blank', 'productId', message, 0),
  ])
}
