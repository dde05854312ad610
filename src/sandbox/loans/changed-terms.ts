import type { Body } from '../fields/body.ts'
import { plainIntegerOf } from '../fields/number.ts'
import { PER_YEAR } from '../reference/options.ts'
import type { LoanTerms } from './loan.ts'
import type { LoanRequest } from './loan-request.ts'
import { keptShape, shapeAsChanges } from './shape.ts'

export type Changes = Record<string, unknown>

/** They determine the schedule, together with amount and rate. */
export const SCHEDULE_TERMS = [
  'numberOfRepayments',
  'repaymentEvery',
  'repaymentFrequencyType',
  'interestType',
  'interestCalculationPeriodType',
  'amortizationType',
] as const
const TERMS = [
  'loanTermFrequency',
  'loanTermFrequencyType',
  ...SCHEDULE_TERMS,
  'transactionProcessingStrategyCode',
] as const

export function changedTerms(
  before: LoanTerms,
  request: LoanRequest,
  body: Body,
  changes: Changes,
): LoanTerms {
  const terms = { ...before }
  for (const name of TERMS) {
    if (request[name] === undefined || request[name] === before[name]) continue
    changes[name] = request[name]
    Object.assign(terms, { [name]: request[name] })
  }
  terms.shape = keptShape(before.shape ?? {}, request.shape)
  Object.assign(changes, shapeAsChanges(before.shape ?? {}, request.shape, body))
  const rate = request.interestRatePerPeriod
  if (rate !== undefined && !rate.eq(before.interestRatePerPeriod)) {
    changes.interestRatePerPeriod = rate.toNumber()
    terms.interestRatePerPeriod = rate.toDecimalPlaces(6).toFixed()
  }
  const { interestRateFrequencyType = PER_YEAR.id } = before
  const frequency = plainIntegerOf(body, 'interestRateFrequencyType') ?? interestRateFrequencyType
  if (frequency !== interestRateFrequencyType) {
    changes.interestRateFrequencyType = frequency
    terms.interestRateFrequencyType = frequency
  }
  return terms
}
