import type { Paise } from '../money.ts'
import type { Loan } from './loan.ts'
import { scheduledAnew, withSchedule } from './schedule.ts'

/** Rebuilt only if amount or day differ, so that a schedule which an update left without interest stays without it. */
export function rescheduled(loan: Loan, principal: Paise, from: string): Loan {
  const isSame = loan.scheduled.principal === principal && loan.scheduled.from === from
  const anew = scheduledAnew(loan, principal, from)
  return withSchedule(loan, isSame ? { ...loan.scheduled } : anew)
}
