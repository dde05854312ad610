import type { LedgerLoan } from './loan.ts'

/** @returns a term of the loan that an update would lose: it is not among those that are sent again */
export function unkeptTerm(loan: LedgerLoan): string | undefined {
  if ((loan.repaymentFrequencyDayOfWeekType?.id ?? 0) > 0) return 'repaymentFrequencyDayOfWeekType'
  if (loan.isFloatingInterestRate) return 'isFloatingInterestRate'
  return loan.interestRateDifferential ? 'interestRateDifferential' : undefined
}
