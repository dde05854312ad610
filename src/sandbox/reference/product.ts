import type { Rounding } from '../money.ts'
import type { OwnTerms } from './own-terms.ts'

/** Amounts and rates are decimal texts. */
export type Product = {
  id: number
  name: string
  shortName: string
  description?: string | undefined
  currencyCode: string
  rounding: Rounding
  principal: Range<string>
  numberOfRepayments: Range<number>
  interestRatePerPeriod: Range<string>
  interestRateFrequencyType: number
  repaymentEvery: number
  repaymentFrequencyType: number
  amortizationType: number
  interestType: number
  interestCalculationPeriodType: number
  transactionProcessingStrategyCode: string
  own: OwnTerms
  overrides: Record<Override, boolean>
  canDefineInstallmentAmount: boolean
  chargeIds: number[]
  startDate?: string | undefined
  closeDate?: string | undefined
  syncExpectedWithDisbursementDate: boolean
  recalculation?: Recalculation | undefined
  tranches?:
    | { most: number; outstanding?: string | undefined; withoutExpected: boolean }
    | undefined
  overApplied?: { calculation: string; number: number } | undefined
}

export type Range<T> = { usual: T; least?: T | undefined; most?: T | undefined }

export type Recalculation = {
  compounding: number
  strategy: number
  rest: number
  preClosure: number
}

/** Whether a loan may have another one than the product. */
const OVERRIDES = [
  'amortizationType',
  'interestType',
  'transactionProcessingStrategyCode',
  'interestCalculationPeriodType',
  'inArrearsTolerance',
  'repaymentEvery',
  'graceOnPrincipalAndInterestPayment',
  'graceOnArrearsAgeing',
] as const

type Override = (typeof OVERRIDES)[number]

const LENDERS = 9

export const firstProducts: Product[] = Array.from({ length: LENDERS }, (_, i) => ({
  id: i + 1,
  name: `LENDER_0${i + 1}`,
  shortName: `L0${i + 1}`,
  description: `Contract-test product LENDER_0${i + 1}`,
  currencyCode: 'INR',
  rounding: { decimalPlaces: 2, inMultiplesOf: 0 },
  principal: { usual: '50000', least: '100', most: '10000000' },
  numberOfRepayments: { usual: 12, least: 1, most: 360 },
  interestRatePerPeriod: { usual: '18', least: '0', most: '100' },
  interestRateFrequencyType: 3,
  repaymentEvery: 1,
  repaymentFrequencyType: 2,
  amortizationType: 1,
  interestType: 0,
  interestCalculationPeriodType: 1,
  transactionProcessingStrategyCode: 'mifos-standard-strategy',
  own: {},
  overrides: overrides(() => true),
  canDefineInstallmentAmount: false,
  chargeIds: [],
  syncExpectedWithDisbursementDate: false,
}))

export function overrides(mayOverride: (name: Override) => boolean): Record<Override, boolean> {
  const entries = OVERRIDES.map(name => [name, mayOverride(name)])
  return Object.fromEntries(entries) as Record<Override, boolean>
}
