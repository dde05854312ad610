import { DAY_MS, type Day, isoDay } from '../../day.ts'
import { FREQUENCIES } from './loan.ts'

/** The end of the last of `count` periods after a day, as `YYYY-MM-DD`. */
export function lastDue(from: Day, frequency: number, count: number): string {
  const [year, month, day] = from
  if (frequency === FREQUENCIES.days || frequency === FREQUENCIES.weeks) {
    const days = count * (frequency === FREQUENCIES.weeks ? 7 : 1)
    return new Date(Date.UTC(year, month - 1, day) + days * DAY_MS).toISOString().slice(0, 10)
  }
  const months = count * (frequency === FREQUENCIES.years ? 12 : 1)
  const last = new Date(Date.UTC(year, month + months, 0))
  // 31 January leads to the last day of February.
  const date = Math.min(day, last.getUTCDate())
  return isoDay([last.getUTCFullYear(), last.getUTCMonth() + 1, date])
}
