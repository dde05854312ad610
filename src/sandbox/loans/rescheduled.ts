import type { Paise } from '../money.ts'
import type { Loan } from './loan.ts'
import { makeSchedule } from './schedule.ts'

/**
 * The schedule of a loan that is paid out, or taken back: made anew only where amount or day
 * differ, so that one which an update left without interest stays so.
 */
export function rescheduled(loan: Loan, principal: Paise, from: string) {
  const stands = loan.scheduled.principal === principal && loan.scheduled.from === from
  const { interestRatePerPeriod } = stands ? loan.scheduled : loan.terms
  const dues = makeSchedule({ ...loan.terms, interestRatePerPeriod }, principal, from, loan.charges)
  return {
    scheduled: { principal, interestRatePerPeriod, from },
    expectedMaturityDate: dues.at(-1)?.due,
  }
}
