import type { LedgerLoan } from './loan.ts'

/** @returns a term of the loan that an update would lose: it is not among those that are sent again */
export function unkeptTerm(loan: LedgerLoan): string | undefined {
  if ((loan.repaymentFrequencyDayOfWeekType?.id ?? 0) > 0) return 'repaymentFrequencyDayOfWeekType'
  if (loan.isFloatingInterestRate) return 'isFloatingInterestRate'
  // The ledger changes no loan of a whole group unless it is named.
  if (loan.clientId === undefined) return 'group'
  // The ledger would count its instalments from the disbursement and forget the meeting.
  if (loan.meeting) return 'meeting'
  // The ledger fails on a top-up that does not name the older loan again.
  if (loan.isTopup) return 'loanIdToClose'
  return loan.interestRateDifferential ? 'interestRateDifferential' : undefined
}
