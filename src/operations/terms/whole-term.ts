import type { Frequency } from '../../ledger/loans/loan.ts'

type Term = {
  loanTermFrequency: number
  loanTermFrequencyType: Frequency
  numberOfRepayments: number
}

const FINER: Partial<Record<Frequency, [type: Frequency, times: number]>> = {
  years: ['months', 12],
  weeks: ['days', 7],
}

/** 1 year as 12 months, and 1 week as 7 days. */
export function inFinerPeriods<T extends Partial<Term>>(term: T): T {
  const { loanTermFrequency, loanTermFrequencyType } = term
  const finer = loanTermFrequencyType && FINER[loanTermFrequencyType]
  if (finer === undefined || loanTermFrequency === undefined) return term
  const [type, times] = finer
  return { ...term, loanTermFrequency: loanTermFrequency * times, loanTermFrequencyType: type }
}

/**
 * The term in whole periods, the only ones that the ledger takes between repayments: 1 year in 12 repayments becomes
 * 12 months in 12.
 */
export function wholeTerm<T extends Term>(term: T): T {
  const isWhole = ({ loanTermFrequency, numberOfRepayments }: Term) =>
    loanTermFrequency % numberOfRepayments === 0
  const finer = inFinerPeriods(term)
  return !isWhole(term) && isWhole(finer) ? finer : term
}
