import type { Paise } from '../money.ts'
import type { Loan } from './loan.ts'
import { makeSchedule } from './schedule.ts'

/** Rebuilt only if amount or day differ, so that a schedule which an update left without interest stays without it. */
export function rescheduled(loan: Loan, principal: Paise, from: string) {
  const isSame = loan.scheduled.principal === principal && loan.scheduled.from === from
  const { interestRatePerPeriod } = isSame ? loan.scheduled : loan.terms
  const dues = makeSchedule({ ...loan.terms, interestRatePerPeriod }, principal, from, loan.charges)
  return {
    scheduled: { principal, interestRatePerPeriod, from },
    expectedMaturityDate: dues.at(-1)?.due,
  }
}
