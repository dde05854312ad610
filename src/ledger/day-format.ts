import { DATE_FORMAT, type Day, dayText, isoDay, namedDay } from '../day.ts'

/** Fineract requires these in every body that contains a day. */
export const dayFormat = { dateFormat: DATE_FORMAT, locale: 'en' } as const

/** @param text as `dd MMMM yyyy` */
export function isSameDay(day: Day | undefined, text: string): boolean {
  return day !== undefined && dayText(day) === text
}

export function laterDay(one: string, other: string): string {
  return sortable(one) >= sortable(other) ? one : other
}

/** @param text as `dd MMMM yyyy`: today is past too */
export function isPast(text: string, timeZone: string): boolean {
  return sortable(text) <= today(timeZone)
}

/** Sweden writes days as `YYYY-MM-DD`. */
export function today(timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format()
}

/** @param text as `dd MMMM yyyy` @returns it as `YYYY-MM-DD` */
export function sortable(text: string): string {
  const day = namedDay(text)
  return day === undefined ? '' : isoDay(day)
}
