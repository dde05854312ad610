import type { LedgerCurrency, Option } from './loan.ts'
import type { OwnTerms } from './own-terms.ts'

export type LoanProduct = {
  id: number
  name: string
  currency: LedgerCurrency
  interestType: Option
  interestCalculationPeriodType: Option
  amortizationType: Option
  interestRateFrequencyType?: Option
  transactionProcessingStrategyCode: string
}

/** As it is read alone; the list of products has no charges. */
export type ProductWithTerms = LoanProduct & OwnTerms & { charges?: ProductCharge[] }

export type ProductCharge = {
  id: number
  name: string
  active?: boolean
  amount: number
  currency: { code: string }
  chargeTimeType: Option & { value: string }
  chargeCalculationType: Option
}
