import { Decimal } from 'decimal.js'
import { addDays, addMonths } from '../calendar.ts'
import { Exact, type Paise, paise, rupees, sum } from '../money.ts'
import type { Loan, LoanCharge, LoanTerms } from './loan.ts'

export type Due = {
  number: number
  from: string
  due: string
  principal: Paise
  interest: Paise
  fees: Paise
  balance: Paise
}

/** Fineract's period types; the remaining one is years. */
const DAYS = 0
const WEEKS = 1
const MONTHS = 2
const PERIODS_A_YEAR = [365, 52, 12, 1]
/** Fineract calculates with 19 digits: 20 % a year, truncated to a monthly rate, is not exactly one sixtieth. */
const LedgerDecimal = Decimal.clone({ precision: 19, rounding: Decimal.ROUND_HALF_EVEN })
const EQUAL_PRINCIPAL = 0
const FLAT = 1

export function scheduleOf(loan: Loan): Due[] {
  const { principal, interestRatePerPeriod, from } = loan.scheduled
  return makeSchedule({ ...loan.terms, interestRatePerPeriod }, principal, from, loan.charges)
}

export function periodsAYear(frequencyType: number): number {
  return PERIODS_A_YEAR[frequencyType] ?? 12
}

export function makeSchedule(
  terms: LoanTerms,
  principal: Paise,
  start: string,
  charges: LoanCharge[],
): Due[] {
  if (principal <= 0) return []
  const n = terms.numberOfRepayments
  const part = partOfBalance(terms)
  const flat = terms.interestType === FLAT
  const wholeInterest = flat ? shareOf(principal, part.times(n), terms) : 0
  const flatInterest = round(new LedgerDecimal(wholeInterest).dividedBy(n), terms)
  const equalPrincipal = flat || terms.amortizationType === EQUAL_PRINCIPAL
  const instalment = equalPrincipal
    ? round(new LedgerDecimal(principal).dividedBy(n), terms)
    : equalInstalment(principal, part, terms)
  const dues: Due[] = []
  let balance = principal
  let from = start
  for (let number = 1; number <= n; number++) {
    const due = dueDate(terms, start, from, number)
    const isLast = number === n
    const ofFlat = isLast ? wholeInterest - flatInterest * (n - 1) : flatInterest
    const interest = flat ? ofFlat : shareOf(balance, part, terms)
    const planned = equalPrincipal ? instalment : instalment - interest
    const paid = isLast ? balance : Math.min(planned, balance)
    balance -= paid
    dues.push({ number, from, due, principal: paid, interest, fees: 0, balance })
    from = due
  }
  return withFees(dues, charges)
}

function partOfBalance(terms: LoanTerms): Decimal {
  const periods = periodsAYear(terms.repaymentFrequencyType)
  const rate = new LedgerDecimal(terms.interestRatePerPeriod).dividedBy(periods).dividedBy(100)
  return new Exact(rate).times(terms.repaymentEvery)
}

function shareOf(amount: Paise, part: Decimal, terms: LoanTerms): Paise {
  return round(new LedgerDecimal(amount).times(part), terms)
}

function equalInstalment(principal: Paise, part: Decimal, terms: LoanTerms): Paise {
  if (part.isZero()) return withoutInterest(principal, terms)
  const discount = new Exact(1).minus(part.plus(1).pow(-terms.numberOfRepayments))
  return round(part.times(principal).dividedBy(discount), terms)
}

/** Fineract divides doubles here: 100.02 / 12 is slightly less than 8.335. */
function withoutInterest(principal: Paise, terms: LoanTerms): Paise {
  return paise(new Exact(rupees(principal) / terms.numberOfRepayments), terms.rounding)
}

/**
 * Months count from the first day, so that 31 January leads to 29 February and then 31 March; years count
 * from the previous due date, so that a schedule from 29 February 2020 stays on the 28th.
 */
function dueDate(terms: LoanTerms, start: string, from: string, number: number): string {
  const every = terms.repaymentEvery
  if (terms.repaymentFrequencyType === DAYS) return addDays(from, every)
  if (terms.repaymentFrequencyType === WEEKS) return addDays(from, 7 * every)
  if (terms.repaymentFrequencyType === MONTHS) return addMonths(start, every * number)
  return addMonths(from, 12 * every)
}

function withFees(dues: Due[], charges: LoanCharge[]): Due[] {
  for (const charge of charges) {
    const day = charge.dueDate ?? dues[0]?.due ?? ''
    const instalment = dues.find(({ due }) => day <= due) ?? dues.at(-1)
    if (instalment) instalment.fees = sum([instalment.fees, charge.amount])
  }
  return dues
}

function round(value: Decimal, { rounding }: LoanTerms): Paise {
  return paise(new Exact(value).dividedBy(100), rounding)
}
