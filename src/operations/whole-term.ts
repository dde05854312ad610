import type { Frequency } from '../ledger/loans/loan.ts'

type Term = {
  loanTermFrequency: number
  loanTermFrequencyType: Frequency
  numberOfRepayments: number
}

const FINER: Partial<Record<Frequency, [type: Frequency, times: number]>> = {
  years: ['months', 12],
  weeks: ['days', 7],
}

/**
 * The term in whole periods, the only ones that the ledger takes between repayments: 1 year in 12 repayments becomes
 * 12 months in 12.
 */
export function wholeTerm<T extends Term>(term: T): T {
  const { loanTermFrequency, loanTermFrequencyType, numberOfRepayments } = term
  const finer = FINER[loanTermFrequencyType]
  if (finer === undefined || loanTermFrequency % numberOfRepayments === 0) return term
  const [type, times] = finer
  if ((loanTermFrequency * times) % numberOfRepayments !== 0) return term
  return {
    ...term,
    loanTermFrequency: loanTermFrequency * times,
    loanTermFrequencyType: type,
  }
}
