/** The ledger's terms of a loan over twelve months, but for its product, principal and rate. */
export const MONTHLY_TERMS = {
  loanType: 'individual',
  loanTermFrequency: 12,
  loanTermFrequencyType: 2,
  numberOfRepayments: 12,
  repaymentEvery: 1,
  repaymentFrequencyType: 2,
  interestType: 0,
  interestCalculationPeriodType: 1,
  amortizationType: 1,
  transactionProcessingStrategyCode: 'mifos-standard-strategy',
}
