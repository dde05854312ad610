import type { Paise } from '../money.ts'
import type { Loan } from './loan.ts'
import { makeSchedule } from './schedule.ts'

/**
 * The schedule after a disbursal or its undoing. It is rebuilt only if amount or day differ, so that one which an
 * update left without interest stays without it.
 */
export function rescheduled(loan: Loan, principal: Paise, from: string) {
  const isSame = loan.scheduled.principal === principal && loan.scheduled.from === from
  const { interestRatePerPeriod } = isSame ? loan.scheduled : loan.terms
  const dues = makeSchedule({ ...loan.terms, interestRatePerPeriod }, principal, from, loan.charges)
  return {
    scheduled: { principal, interestRatePerPeriod, from },
    expectedMaturityDate: dues.at(-1)?.due,
  }
}
