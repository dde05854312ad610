import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { type Checks, checks } from '../fields/checks.ts'
import { idOf } from '../fields/number.ts'
import { domainRule, fieldError, invalid, notSupported } from '../http/refusal.ts'
import { paise } from '../money.ts'
import { checkOwnTerms } from '../reference/own-terms.ts'
import type { Product } from '../reference/product.ts'
import { productById, refuseClosedProduct, refuseUntoldTranches } from '../reference/products.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { refuseInactiveClient } from './active-client.ts'
import { checkLimits, refuseTerm } from './limits.ts'
import type { Loan, LoanTerms } from './loan.ts'
import { checkLoanCharges, readLoanCharges } from './loan-charges.ts'
import { CREATE_KEYS } from './loan-keys.ts'
import { LOAN_TYPES, type LoanRequest, readLoanRequest, requestFor } from './loan-request.ts'
import { netOf } from './net-of.ts'
import { withSchedule } from './schedule.ts'
import { checkFixedShare, checkGrace, refuseFixedEmi } from './shape.ts'
import { SUBMITTED } from './status.ts'
import { refuseStrategy } from './strategy.ts'
import { refuseSubmission } from './submission.ts'

/** Makes a loan, but does not save it. */
export function newLoan(ledger: Ledger, body: Body): Loan {
  refuseUnknownKeys(body, CREATE_KEYS)
  const productId = idOf(body, 'productId')
  if (productId === undefined) throw withoutProduct()
  const product = productById(ledger, productId)
  refuseFixedEmi(product, body)
  const clientId = idOf(body, 'clientId')
  const client = clientId === undefined ? undefined : refuseInactiveClient(ledger, clientId)
  const sent = readLoanRequest(body)
  const check = checkFields(sent)
  checkFloatingRate(check, body)
  checkOwnTerms(check, sent.shape)
  checkLoanCharges(check, body)
  const request = requestFor(product, sent)
  if (request.transactionProcessingStrategyCode !== undefined)
    refuseStrategy(request.transactionProcessingStrategyCode)
  refuseTakenExternalId(ledger, request.externalId)
  const { submittedOnDate, expectedDisbursementDate } = request
  refuseSubmission(submittedOnDate, expectedDisbursementDate, client, today(ledger))
  refuseClosedProduct(product, submittedOnDate)
  checkLimits(check, product, request, body)
  checkGrace(check, request.shape, request.numberOfRepayments)
  checkFixedShare(check, request.shape, request.amortizationType)
  check.throwIfAny()
  refuseUntoldTranches(product, body)
  refuseFirstRepayment(request)
  return assemble(ledger, product, request as Complete, body)
}

type Complete = { [Name in keyof LoanRequest]: NonNullable<LoanRequest[Name]> }

export const AT_LEAST_ONE = ['loanTermFrequency', 'numberOfRepayments', 'repaymentEvery'] as const
export const CHOICES = [
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

function assemble(ledger: Ledger, product: Product, request: Complete, body: Body): Loan {
  if (request.loanType !== 'individual') throw notSupported(`${request.loanType} loans`)
  refuseTerm(request)
  const { rounding } = product
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
    productRateFrequency: product.interestRateFrequencyType,
    shape: request.shape,
    recalculates: product.recalculation !== undefined,
  }
  const from = request.expectedDisbursementDate
  const charges = readLoanCharges(ledger, product, body, from, [])
  const loan: Loan = {
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
    scheduled: { principal, interestRatePerPeriod, from, shape: request.shape },
    submittedOn: request.submittedOnDate,
    expectedDisbursementDate: from,
    charges,
    notes: request.submittedOnNote ? [{ id: 0, note: request.submittedOnNote }] : [],
  }
  return { ...withSchedule(loan, loan.scheduled), netDisbursalAmount: netOf(loan) }
}

function checkFloatingRate(check: Checks, body: Body): void {
  for (const name of ['isFloatingInterestRate', 'interestRateDifferential']) {
    if (body[name] === undefined) continue
    const suffix = 'not.supported.loanproduct.not.linked.to.floating.rate'
    check.fail(name, suffix, `Failed data validation due to: ${suffix}.`, null)
  }
}

export function refuseFirstRepayment({ shape, expectedDisbursementDate }: LoanRequest): void {
  const first = shape.repaymentsStartingFromDate
  if (first === undefined || expectedDisbursementDate === undefined) return
  if (first >= expectedDisbursementDate) return
  const message = `Number of days between loan disbursal  (${expectedDisbursementDate}) and first repayment (${first}) can't be less than (0).`
  const code = 'days.between.first.repayment.and.disbursal.are.less.than.minimum.allowed'
  throw domainRule(`error.msg.loan.${code}`, message, expectedDisbursementDate, first)
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
