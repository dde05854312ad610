import type { Body } from '../fields/body.ts'
import { isSent, textOf } from '../fields/text.ts'
import { integrityIssue } from '../http/refusal.ts'
import { paise, rupees } from '../money.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Loan, LoanTerms } from './loan.ts'
import { readLoanCharges } from './loan-charges.ts'
import type { LoanRequest } from './loan-request.ts'
import { makeSchedule } from './schedule.ts'

type Changes = Record<string, unknown>

const TERMS = [
  'loanTermFrequency',
  'loanTermFrequencyType',
  'numberOfRepayments',
  'repaymentEvery',
  'repaymentFrequencyType',
  'interestType',
  'interestCalculationPeriodType',
  'amortizationType',
  'transactionProcessingStrategyCode',
] as const

/** The loan as the request would have it, and the fields that differ. */
export function changedLoan(ledger: Ledger, loan: Loan, request: LoanRequest, body: Body) {
  const changes: Changes = {}
  const terms = changedTerms(loan.terms, request, changes)
  const principal = changedPrincipal(loan, request, changes)
  const dates = changedDates(loan, request, body, changes)
  const ids = changedIds(ledger, loan, request, body, changes)
  const list = readLoanCharges(ledger, body, loan.charges)
  const scheduled = {
    principal: request.principal === undefined ? 0 : principal,
    interestRatePerPeriod: request.interestRatePerPeriod?.toDecimalPlaces(6).toFixed() ?? '0',
    from: dates.expectedDisbursementDate,
  }
  const { interestRatePerPeriod } = scheduled
  const dues = makeSchedule(
    { ...terms, interestRatePerPeriod },
    scheduled.principal,
    scheduled.from,
    list,
  )
  const changed: Loan = {
    ...loan,
    ...ids,
    ...dates,
    terms,
    principal,
    proposedPrincipal: principal,
    approvedPrincipal: principal,
    netDisbursalAmount: principal,
    scheduled,
    expectedMaturityDate: dues.at(-1)?.due ?? loan.expectedMaturityDate,
    charges: list,
  }
  return { changed, changes }
}

function changedTerms(before: LoanTerms, request: LoanRequest, changes: Changes): LoanTerms {
  const terms = { ...before }
  for (const name of TERMS) {
    if (request[name] === undefined || request[name] === before[name]) continue
    changes[name] = request[name]
    Object.assign(terms, { [name]: request[name] })
  }
  const rate = request.interestRatePerPeriod
  if (rate !== undefined && !rate.eq(before.interestRatePerPeriod)) {
    changes.interestRatePerPeriod = rate.toNumber()
    terms.interestRatePerPeriod = rate.toDecimalPlaces(6).toFixed()
  }
  return terms
}

function changedPrincipal(loan: Loan, request: LoanRequest, changes: Changes): number {
  const principal = request.principal === undefined ? loan.principal : paise(request.principal)
  if (principal !== loan.principal) changes.principal = rupees(principal)
  return principal
}

function changedDates(loan: Loan, request: LoanRequest, body: Body, changes: Changes) {
  const submittedOn = request.submittedOnDate ?? loan.submittedOn
  const expected = request.expectedDisbursementDate ?? loan.expectedDisbursementDate
  if (submittedOn !== loan.submittedOn) changes.submittedOnDate = textOf(body, 'submittedOnDate')
  if (expected !== loan.expectedDisbursementDate) {
    changes.expectedDisbursementDate = textOf(body, 'expectedDisbursementDate')
  }
  if (changes.submittedOnDate ?? changes.expectedDisbursementDate) {
    changes.dateFormat = textOf(body, 'dateFormat')
  }
  return { submittedOn, expectedDisbursementDate: expected }
}

function changedIds(
  ledger: Ledger,
  loan: Loan,
  request: LoanRequest,
  body: Body,
  changes: Changes,
) {
  const externalId = isSent(body, 'externalId') ? request.externalId : loan.externalId
  if (externalId !== loan.externalId) {
    changes.externalId = externalId ?? ''
    if (externalId !== undefined && ledger.books.loanByExternalId.has(externalId)) {
      const message = 'Unknown data integrity issue with resource.'
      throw integrityIssue('error.msg.unknown.data.integrity.issue', message)
    }
  }
  const { clientId = loan.clientId, productId = loan.productId } = request
  if (clientId !== loan.clientId) changes.clientId = clientId
  if (productId !== loan.productId) changes.productId = productId
  return { externalId, clientId, productId }
}
