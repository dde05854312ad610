import { rate } from '../http/wire.ts'
import { Exact } from '../money.ts'
import type { Recalculation } from './product.ts'

/** The number of periods by frequency: days, weeks, months, years. */
const PERIODS_A_YEAR = [365, 52, 12, 1]

export function periodsAYear(frequencyType: number): number {
  return PERIODS_A_YEAR[frequencyType] ?? 12
}

export function annualRate(perPeriod: string, frequencyType: number): unknown {
  return rate(new Exact(perPeriod).times(periodsAYear(frequencyType)).toFixed())
}

const COMPOUNDING = ['none', 'interest', 'fee', 'interest.and.fee']
const STRATEGIES = [
  '',
  'reduce.number.of.installments',
  'reschedule.next.repayments',
  'reduce.emi.amount',
]
const RESTS = ['', 'same.as.repayment.period', 'daily', 'weekly', 'monthly']
const PRE_CLOSURES = ['none', 'tillPreClosureDate', 'tillRestFrequencyDate']

export function recalculationView({ compounding, strategy, rest, preClosure }: Recalculation) {
  const option = (id: number, code: string) => ({ id, code, value: code })
  return {
    interestRecalculationCompoundingType: option(
      compounding,
      `interestRecalculationCompoundingMethod.${COMPOUNDING[compounding]}`,
    ),
    rescheduleStrategyType: option(
      strategy,
      `loanRescheduleStrategyMethod.${STRATEGIES[strategy]}`,
    ),
    recalculationRestFrequencyType: option(
      rest,
      `interestRecalculationFrequencyType.${RESTS[rest]}`,
    ),
    preClosureInterestCalculationStrategy: option(
      preClosure,
      `loanPreClosureInterestCalculationStrategy.${PRE_CLOSURES[preClosure]}`,
    ),
  }
}
