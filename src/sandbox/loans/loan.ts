import type { Paise, Rounding } from '../money.ts'
import type { Shape } from './shape.ts'

export type LoanTerms = {
  // Set if the product's currency is not rounded to paise.
  rounding?: Rounding | undefined
  loanTermFrequency: number
  loanTermFrequencyType: number
  numberOfRepayments: number
  repaymentEvery: number
  repaymentFrequencyType: number
  interestRatePerPeriod: string
  // Set only by an update, and it affects only the loan's own view.
  interestRateFrequencyType?: number | undefined
  // What the schedule is calculated with; a year unless the product says otherwise.
  productRateFrequency?: number | undefined
  interestType: number
  interestCalculationPeriodType: number
  amortizationType: number
  transactionProcessingStrategyCode: string
  shape?: Shape | undefined
  recalculates?: boolean | undefined
}

export type LoanCharge = {
  id: number
  chargeId: number
  name: string
  amount: string
  time: number
  calculation: number
  penalty: boolean
  paymentMode: number
  dueDate?: string | undefined
  externalId?: string | undefined
}

/** What the schedule was last built from: an update may have left out anything of it. */
export type Scheduled = {
  principal: Paise
  interestRatePerPeriod: string
  from: string
  shape?: Shape | undefined
}

export type Loan = {
  id: number
  externalId?: string | undefined
  clientId: number
  productId: number
  status: number
  principal: Paise
  proposedPrincipal: Paise
  approvedPrincipal: Paise
  netDisbursalAmount: Paise
  terms: LoanTerms
  scheduled: Scheduled
  expectedMaturityDate?: string | undefined
  submittedOn: string
  expectedDisbursementDate: string
  approvedOn?: string | undefined
  disbursedOn?: string | undefined
  closedOn?: string | undefined
  charges: LoanCharge[]
  notes: { id: number; note: string }[]
}
