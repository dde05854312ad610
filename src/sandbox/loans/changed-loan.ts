import type { Body } from '../fields/body.ts'
import { isSent, textOf } from '../fields/text.ts'
import { unknownIntegrityIssue } from '../http/refusal.ts'
import { type Paise, paise, rupees } from '../money.ts'
import type { Product } from '../reference/product.ts'
import type { Ledger } from '../storage/ledger.ts'
import { type Changes, changedTerms, SCHEDULE_TERMS } from './changed-terms.ts'
import type { Loan, LoanCharge } from './loan.ts'
import { chargesAsChanges, differ, readLoanCharges } from './loan-charges.ts'
import type { LoanRequest } from './loan-request.ts'
import { withSchedule } from './schedule.ts'

/** If one of these changes, the charges are written again too. */
const SCHEDULE = [
  'principal',
  'interestRatePerPeriod',
  'interestRateFrequencyType',
  ...SCHEDULE_TERMS,
]
const REBUILDING = ['charges', 'expectedDisbursementDate', 'productId']
const MONTHS = 2

/** If a change affects the schedule, it is rebuilt from the request alone; a monthly schedule is always rebuilt. */
export function changedLoan(
  ledger: Ledger,
  loan: Loan,
  product: Product,
  request: LoanRequest,
  body: Body,
) {
  const changes: Changes = {}
  const terms = changedTerms(loan.terms, request, body, changes)
  const principal = changedPrincipal(loan, request, changes)
  const dates = changedDates(loan, request, body, changes)
  const ids = changedIds(ledger, loan, request, body, changes)
  const { expectedDisbursementDate } = dates
  const charges = readLoanCharges(ledger, product, body, expectedDisbursementDate, loan.charges)
  const byMonths = loan.terms.repaymentFrequencyType === MONTHS
  if (byMonths || SCHEDULE.some(name => name in changes) || differ(charges, loan.charges)) {
    changes.charges = []
    changes.locale = textOf(body, 'locale')
  }
  const changed = { ...loan, ...ids, ...dates, terms, ...amounts(principal) }
  const isRebuilt = REBUILDING.some(name => name in changes)
  if (!isRebuilt) return { changed, changes, isRebuilt }
  const kept = 'charges' in changes ? charges : loan.charges
  const made = schedule(changed, request, kept)
  if ('charges' in changes) changes.charges = chargesAsChanges(made, charges)
  return { changed: made, changes, isRebuilt }
}

function amounts(principal: Paise) {
  return { principal, proposedPrincipal: principal, approvedPrincipal: principal }
}

/** The loan with a schedule that is made from the request alone. */
function schedule(changed: Loan, request: LoanRequest, charges: LoanCharge[]): Loan {
  const scheduled = {
    principal: request.principal === undefined ? 0 : changed.principal,
    interestRatePerPeriod: request.interestRatePerPeriod?.toDecimalPlaces(6).toFixed() ?? '0',
    from: changed.expectedDisbursementDate,
    shape: request.shape,
  }
  const made = withSchedule({ ...changed, charges }, scheduled)
  const { expectedMaturityDate = changed.expectedMaturityDate } = made
  return { ...made, expectedMaturityDate }
}

function changedPrincipal(loan: Loan, request: LoanRequest, changes: Changes): number {
  const { principal } = request
  if (principal === undefined) return loan.principal
  if (!principal.eq(rupees(loan.principal))) changes.principal = principal.toNumber()
  return paise(principal, loan.terms.rounding)
}

function changedDates(loan: Loan, request: LoanRequest, body: Body, changes: Changes) {
  const submittedOn = request.submittedOnDate ?? loan.submittedOn
  const expected = request.expectedDisbursementDate ?? loan.expectedDisbursementDate
  if (submittedOn !== loan.submittedOn) changes.submittedOnDate = textOf(body, 'submittedOnDate')
  if (expected !== loan.expectedDisbursementDate)
    changes.expectedDisbursementDate = textOf(body, 'expectedDisbursementDate')
  if (changes.submittedOnDate ?? changes.expectedDisbursementDate) {
    changes.dateFormat = textOf(body, 'dateFormat')
    changes.locale = textOf(body, 'locale')
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
    if (externalId !== undefined && ledger.books.loanByExternalId.has(externalId))
      throw unknownIntegrityIssue()
  }
  const { clientId = loan.clientId, productId = loan.productId } = request
  if (clientId !== loan.clientId) changes.clientId = clientId
  if (productId !== loan.productId) changes.productId = productId
  return { externalId, clientId, productId }
}
