import type { Day } from '../../day.ts'
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
} & Partial<ProductRules>

/** The rules by which the ledger checks an application; the list of products has them too. */
type ProductRules = {
  minPrincipal: number
  maxPrincipal: number
  minNumberOfRepayments: number
  maxNumberOfRepayments: number
  minInterestRatePerPeriod: number
  maxInterestRatePerPeriod: number
  /** If set, the limits depend on how many loans the client has had. */
  useBorrowerCycle: boolean
  startDate: Day
  closeDate: Day
  repaymentEvery: number
  /** Whether a loan may have another value than its product. */
  allowAttributeOverrides: {
    repaymentEvery?: boolean
    graceOnPrincipalAndInterestPayment?: boolean
  }
  syncExpectedWithDisbursementDate: boolean
  /** The ledger then refuses each application with a rate, and so each of ours. */
  isLinkedToFloatingInterestRates: boolean
  multiDisburseLoan: boolean
  disallowExpectedDisbursements: boolean
} & Pick<OwnTerms, 'graceOnPrincipalPayment' | 'graceOnInterestPayment' | 'graceOnInterestCharged'>

/** The ledger then refuses each application that does not list its tranches, and so each of ours. */
export const wantsTranches = (product: LoanProduct) =>
  product.multiDisburseLoan === true && product.disallowExpectedDisbursements === false

/** A product as it is read alone; the list of products has no charges. */
export type ProductWithTerms = LoanProduct & OwnTerms & { charges?: ProductCharge[] }

export type ProductCharge = {
  id: number
  name: string
  active?: boolean
  amount: number
  currency: { code: string }
  chargeTimeType: Option & { value: string }
  chargeCalculationType: Option
  chargePaymentMode?: Option
}
