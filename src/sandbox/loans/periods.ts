import type { Decimal } from 'decimal.js'
import { addDays, addMonths, dateArray, daysBetween } from '../calendar.ts'
import { Exact, LedgerDecimal } from '../money.ts'
import { periodsAYear } from '../reference/rates.ts'
import type { LoanTerms } from './loan.ts'
import type { Shape } from './shape.ts'

export type Period = {
  number: number
  from: string
  due: string
  // The part of the balance that is this period's interest.
  part: Decimal
}

/** Fineract's period types; the remaining one is years. */
const DAYS = 0
const WEEKS = 1
const MONTHS = 2
const DAILY = 0
const DAYS_A_YEAR = 365

export function periodsOf(terms: LoanTerms, start: string, shape: Shape): Period[] {
  const periods: Period[] = []
  let from = start
  for (let number = 1; number <= terms.numberOfRepayments; number++) {
    const due = dueDate(terms, start, from, number, shape.repaymentsStartingFromDate)
    const isFree = number <= (shape.graceOnInterestCharged ?? 0)
    const part = isFree ? new Exact(0) : partFor(terms, from, due, shape.interestChargedFromDate)
    periods.push({ number, from, due, part })
    from = due
  }
  return periods
}

/** The part of the balance for a whole period, whatever its length in days. */
export function partOfBalance(terms: LoanTerms): Decimal {
  const periods = periodsAYear(terms.repaymentFrequencyType)
  const rate = new LedgerDecimal(annually(terms)).dividedBy(periods).dividedBy(100)
  return new Exact(rate).times(terms.repaymentEvery)
}

/** A part of the balance for so many days. */
function partForDays(terms: LoanTerms, days: number): Decimal {
  const rate = new LedgerDecimal(annually(terms)).dividedBy(DAYS_A_YEAR).dividedBy(100)
  return new Exact(rate).times(days)
}

function annually(terms: LoanTerms): Decimal {
  const { interestRatePerPeriod, productRateFrequency = 3 } = terms
  return new Exact(interestRatePerPeriod).times(periodsAYear(productRateFrequency))
}

function partFor(terms: LoanTerms, from: string, due: string, chargedFrom = from): Decimal {
  if (terms.interestCalculationPeriodType === DAILY) {
    const first = chargedFrom > from ? chargedFrom : from
    return partForDays(terms, Math.max(0, daysBetween(first, due)))
  }
  const whole = partOfBalance(terms)
  if (chargedFrom <= from) return whole
  if (chargedFrom >= due) return new Exact(0)
  const free = wholePeriodsBetween(terms, from, chargedFrom)
  return whole.times(terms.repaymentEvery - free).dividedBy(terms.repaymentEvery)
}

function wholePeriodsBetween(terms: LoanTerms, from: string, to: string): number {
  const type = terms.repaymentFrequencyType
  if (type === DAYS) return daysBetween(from, to)
  if (type === WEEKS) return Math.floor(daysBetween(from, to) / 7)
  const [year, month, day] = dateArray(from)
  const [toYear, toMonth, toDay] = dateArray(to)
  const months = (toYear - year) * 12 + toMonth - month - (toDay < day ? 1 : 0)
  return type === MONTHS ? months : Math.floor(months / 12)
}

/**
 * Months count from the first day, so that 31 January leads to 29 February and then 31 March; years count
 * from the previous due date, so that a schedule from 29 February 2020 stays on the 28th.
 */
function dueDate(
  terms: LoanTerms,
  start: string,
  from: string,
  number: number,
  first: string | undefined,
): string {
  if (first !== undefined && number === 1) return first
  const every = terms.repaymentEvery
  if (terms.repaymentFrequencyType === DAYS) return addDays(from, every)
  if (terms.repaymentFrequencyType === WEEKS) return addDays(from, 7 * every)
  if (terms.repaymentFrequencyType === MONTHS) {
    return first === undefined
      ? addMonths(start, every * number)
      : addMonths(first, every * (number - 1))
  }
  return addMonths(from, 12 * every)
}
