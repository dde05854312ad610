import type { Paise, Rounding } from '../money.ts'

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
  interestType: number
  interestCalculationPeriodType: number
  amortizationType: number
  transactionProcessingStrategyCode: string
}

export type LoanCharge = {
  id: number
  chargeId: number
  name: string
  amount: Paise
  dueDate?: string | undefined
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
  // What the schedule was last built from: an update may have left out principal or rate.
  scheduled: { principal: Paise; interestRatePerPeriod: string; from: string }
  expectedMaturityDate?: string | undefined
  submittedOn: string
  expectedDisbursementDate: string
  approvedOn?: string | undefined
  disbursedOn?: string | undefined
  closedOn?: string | undefined
  charges: LoanCharge[]
  notes: { id: number; note: string }[]
}
