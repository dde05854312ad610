import type { Decimal } from 'decimal.js'
import { domainRule } from '../http/refusal.ts'
import { Exact, LedgerDecimal, type Paise, paise, rupees, sum } from '../money.ts'
import type { Due } from './due.ts'
import { withFees } from './fees.ts'
import type { Loan, LoanTerms, Scheduled } from './loan.ts'
import { type Period, partOfBalance, periodsOf } from './periods.ts'
import type { Shape } from './shape.ts'

const EQUAL_PRINCIPAL = 0
const FLAT = 1

export function scheduleOf(loan: Loan): Due[] {
  return withFees(duesOf(loan), loan.charges)
}

/** The instalments without their fees, which may be a percentage of them. */
export function duesOf({ terms, scheduled }: Pick<Loan, 'terms' | 'scheduled'>): Due[] {
  const { principal, interestRatePerPeriod } = scheduled
  if (principal <= 0) return []
  const asked = { ...terms, interestRatePerPeriod }
  return terms.interestType === FLAT ? flat(asked, scheduled) : declining(asked, scheduled)
}

/** The interest of one period, if this much is owed at its start. */
export function interestOn(owed: Paise, number: number, { terms, scheduled }: Loan): Paise {
  const { interestRatePerPeriod, from, shape = {} } = scheduled
  const period = periodsOf({ ...terms, interestRatePerPeriod }, from, shape)[number - 1]
  return period === undefined ? 0 : shareOf(owed, period.part, terms)
}

export function withSchedule(loan: Loan, scheduled: Scheduled): Loan {
  const made = { ...loan, scheduled }
  return { ...made, expectedMaturityDate: duesOf(made).at(-1)?.due }
}

/** The terms of a schedule from the loan itself, whatever an update left out of its request. */
export function scheduledAnew({ terms }: Loan, principal: Paise, from: string): Scheduled {
  const { interestRatePerPeriod, shape = {} } = terms
  return { principal, interestRatePerPeriod, from, shape }
}

function declining(terms: LoanTerms, { principal, from, shape = {} }: Scheduled): Due[] {
  const graces = shape.graceOnPrincipalPayment ?? 0
  const instalments = terms.numberOfRepayments - graces
  const isEqualPrincipal = terms.amortizationType === EQUAL_PRINCIPAL
  const instalment = isEqualPrincipal
    ? equalPrincipal(principal, instalments, terms, shape)
    : (fixed(shape.fixedEmiAmount) ?? equalInstalment(principal, instalments, terms))
  const dues: Due[] = []
  let balance = principal
  let owed = 0
  for (const period of periodsOf(terms, from, shape)) {
    const { number, part } = period
    const interest = shareOf(balance, part, terms)
    if (!isEqualPrincipal) refuseTooSmall(instalment, interest, shape.fixedEmiAmount)
    const planned = isEqualPrincipal ? instalment : instalment - interest
    const isLast = number === terms.numberOfRepayments
    const due = number <= graces ? 0 : isLast ? balance : Math.min(planned, balance)
    // What grace puts off falls due with the first interest after it.
    owed += interest
    const isPutOff = number <= (shape.graceOnInterestPayment ?? 0)
    balance -= due
    dues.push(dueOf(period, due, isPutOff ? 0 : owed, balance))
    if (!isPutOff) owed = 0
  }
  return shape.isEqualAmortization ? averaged(dues, principal, terms) : dues
}

function flat(terms: LoanTerms, { principal, from, shape = {} }: Scheduled): Due[] {
  const n = terms.numberOfRepayments
  const { graceOnInterestCharged = 0, graceOnInterestPayment = 0 } = shape
  const graces = shape.graceOnPrincipalPayment ?? 0
  const charged = n - graceOnInterestCharged
  const whole = shareOf(principal, partOfBalance(terms).times(charged), terms)
  const unpaid = Math.max(graceOnInterestCharged, graceOnInterestPayment)
  const interest = round(new LedgerDecimal(whole).dividedBy(Math.max(1, n - unpaid)), terms)
  const instalment = equalPrincipal(principal, n - graces, terms, shape)
  let balance = principal
  let left = whole
  return periodsOf(terms, from, shape).map(period => {
    const isLast = period.number === n
    const due = period.number <= graces ? 0 : isLast ? balance : Math.min(instalment, balance)
    const ofPeriod = period.number <= unpaid ? 0 : isLast ? left : interest
    balance -= due
    left -= ofPeriod
    return dueOf(period, due, ofPeriod, balance)
  })
}

/** The same principal and the same interest in each instalment. */
function averaged(dues: Due[], principal: Paise, terms: LoanTerms): Due[] {
  const whole = sum(dues.map(due => due.interest))
  const each = (amount: Paise) => round(new LedgerDecimal(amount).dividedBy(dues.length), terms)
  let balance = principal
  let left = whole
  return dues.map((due, i) => {
    const isLast = i === dues.length - 1
    const ofPrincipal = isLast ? balance : each(principal)
    const interest = isLast ? left : each(whole)
    balance -= ofPrincipal
    left -= interest
    return { ...due, principal: ofPrincipal, interest, balance }
  })
}

function dueOf({ number, from, due }: Period, principal: Paise, interest: Paise, balance: Paise) {
  return { number, from, due, principal, interest, fees: 0, balance }
}

function refuseTooSmall(instalment: Paise, interest: Paise, fixedEmiAmount: string | undefined) {
  if (fixedEmiAmount === undefined || instalment > interest) return
  const message = `EMI amount must be greater than : ${rupees(interest).toFixed(2)}`
  throw domainRule('error.msg.loanschedule.emi.amount.must.be.greter.than.interest', message)
}

const shareOf = (amount: Paise, part: Decimal, terms: LoanTerms): Paise =>
  round(new LedgerDecimal(amount).times(part), terms)

const fixed = (amount: string | undefined): Paise | undefined =>
  amount === undefined ? undefined : paise(new Exact(amount))

function equalPrincipal(principal: Paise, instalments: number, terms: LoanTerms, shape: Shape) {
  const share = shape.fixedPrincipalPercentagePerInstallment
  const whole = new LedgerDecimal(principal)
  return round(share ? whole.times(share).dividedBy(100) : whole.dividedBy(instalments), terms)
}

function equalInstalment(principal: Paise, instalments: number, terms: LoanTerms): Paise {
  const part = partOfBalance(terms)
  if (part.isZero()) return withoutInterest(principal, instalments, terms)
  const discount = new Exact(1).minus(part.plus(1).pow(-instalments))
  return round(part.times(principal).dividedBy(discount), terms)
}

/** Fineract divides doubles here: 100.02 / 12 is slightly less than 8.335. */
const withoutInterest = (principal: Paise, instalments: number, terms: LoanTerms): Paise =>
  paise(new Exact(rupees(principal) / instalments), terms.rounding)

const round = (value: Decimal, { rounding }: LoanTerms): Paise =>
  paise(new Exact(value).dividedBy(100), rounding)
