import { Decimal } from 'decimal.js'
import type { Day } from '../../day.ts'
import { type Effect, there } from '../effect.ts'
import type { OwnTerms } from './own-terms.ts'

export type Option = { id: number }

/** The ledger rounds amounts to its decimals or, if it has none, to its multiples. */
export type LedgerCurrency = { code: string; decimalPlaces: number; inMultiplesOf?: number }

/** Only ledgers since 1.9 have two types of schedules. */
export type ScheduleType = { code: string }
export const isProgressive = ({ loanScheduleType }: { loanScheduleType?: ScheduleType }) =>
  loanScheduleType?.code === 'PROGRESSIVE'

export type LedgerLoan = OwnTerms & {
  id: number
  externalId: string
  status: Option & { value: string }
  /** Undefined for a loan of a whole group, as is the client's office. */
  clientId?: number
  clientOfficeId?: number
  clientExternalId?: string
  loanProductId: number
  loanProductName: string
  currency: LedgerCurrency
  proposedPrincipal: number
  approvedPrincipal?: number
  principal: number
  termFrequency: number
  termPeriodFrequencyType: Option
  numberOfRepayments: number
  repaymentEvery: number
  interestRatePerPeriod: number
  interestRateFrequencyType?: Option
  interestType: Option
  interestCalculationPeriodType: Option
  allowPartialPeriodInterestCalculation?: boolean
  amortizationType: Option
  transactionProcessingStrategyCode: string
  repaymentFrequencyDayOfWeekType?: Option
  isFloatingInterestRate?: boolean
  /** The meeting of its group on whose days it is repaid. */
  meeting?: Option
  isTopup?: boolean
  interestRateDifferential?: number
  isInterestRecalculationEnabled?: boolean
  loanScheduleType?: ScheduleType
  expectedFirstRepaymentOnDate?: Day
  interestChargedFromDate?: Day
  timeline: {
    submittedOnDate: Day
    expectedDisbursementDate?: Day
    approvedOnDate?: Day
    actualDisbursementDate?: Day
  }
  charges?: LedgerCharge[]
  summary?: { totalOutstanding?: number }
}

export type LedgerCharge = {
  id: number
  chargeId: number
  name: string
  amount: number
  amountOrPercentage?: number
  chargeTimeType: Option
  chargeCalculationType: Option
  dueDate?: Day
}

/** Fineract's PeriodFrequencyType, by our names. */
export const FREQUENCIES = { days: 0, weeks: 1, months: 2, years: 3 } as const
export type Frequency = keyof typeof FREQUENCIES

/** The period of a rate, which is the product's, whatever a request says. */
export function ratePeriodOf(of: { interestRateFrequencyType?: Option }): string | undefined {
  const id = of.interestRateFrequencyType?.id
  if (id === WHOLE_TERM) return 'whole term'
  return frequencyOf(id)
}
const WHOLE_TERM = 4

export function frequencyOf(id: number | undefined): Frequency | undefined {
  return (Object.keys(FREQUENCIES) as Frequency[]).find(name => FREQUENCIES[name] === id)
}

export const SUBMITTED = 100
export const APPROVED = 200
export const ACTIVE = 300
const CLOSED = 600
const OVERPAID = 700
/** Fineract silently takes repayments on closed and overpaid loans too, but on no others. */
export const TAKE_REPAYMENTS = [ACTIVE, CLOSED, OVERPAID]

/** What to say of an amount that is not exact in the currency: the ledger would round it silently. */
export function roundingIn(
  { code, decimalPlaces, inMultiplesOf = 0 }: LedgerCurrency,
  amount: number | string,
): string | undefined {
  const exact = new Decimal(amount)
  const isMultiple = decimalPlaces > 0 || inMultiplesOf <= 0 || exact.mod(inMultiplesOf).isZero()
  if (exact.decimalPlaces() <= decimalPlaces && isMultiple) return undefined
  return `The ledger would round ${amount} ${code} on this loan`
}

export function loanAnswer({ id, clientId, clientOfficeId, externalId }: LedgerLoan): object {
  return {
    officeId: clientOfficeId,
    clientId,
    loanId: id,
    resourceId: id,
    resourceExternalId: externalId,
  }
}

/**
 * The effect for a loan that has everything requested: only the status that our write leaves proves that the write
 * was ours.
 */
export function foundIn(status: number, loan: LedgerLoan, body = loanAnswer(loan)): Effect {
  return loan.status.id === status ? there(body) : { state: 'moved_on', body }
}
