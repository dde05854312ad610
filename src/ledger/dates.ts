import { DATE_FORMAT, type Day, dayOf, dayText, isoDay } from '../day.ts'

/** Fineract returns a day as `[2026, 3, 5]`. */
export type LedgerDay = Day
export { dayText }

/** What every body with a day in it must also have. */
export const dayFormat = { dateFormat: DATE_FORMAT, locale: 'en' } as const

/** @param text as `dd MMMM yyyy` */
export function isSameDay(day: Day | undefined, text: string): boolean {
  return day !== undefined && dayText(day) === text
}

/** The later of two days, both as `dd MMMM yyyy`. */
export function laterDay(one: string, other: string): string {
  return sortable(one) >= sortable(other) ? one : other
}

function sortable(text: string): string {
  const day = namedDay(text)
  return day === undefined ? '' : isoDay(day)
}
