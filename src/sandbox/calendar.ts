export const DAY_MS = 86_400_000
export const INDIA_MS = 5.5 * 3_600_000

/** Days are YYYY-MM-DD strings: they compare as text, and no time zone can shift them. */
export function addDays(date: string, days: number): string {
  return isoDate(new Date(utc(date) + days * DAY_MS))
}

export function addMonths(date: string, months: number): string {
  const [year, month, day] = dateArray(date)
  const first = new Date(Date.UTC(year, month - 1 + months, 1))
  const lastDay = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0))
  return isoDate(
    new Date(
      Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), Math.min(day, lastDay.getUTCDate())),
    ),
  )
}

export function daysBetween(from: string, to: string): number {
  return Math.round((utc(to) - utc(from)) / DAY_MS)
}

export function dateArray(date: string): [number, number, number] {
  return [Number(date.slice(0, 4)), Number(date.slice(5, 7)), Number(date.slice(8, 10))]
}

/** @returns undefined if there is no such day */
export function dateOfParts(year: number, month: number, day: number): string | undefined {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? isoDate(date) : undefined
}

const QUARTER_HOUR_MS = 900_000

export function todayIn(timeZone: string): () => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone })
  let until = 0
  let today = ''
  return () => {
    const now = Date.now()
    // Formatting costs more than a whole call, so the day is cached until the next quarter of an hour, when
    // a zone's midnight may fall.
    if (now >= until) {
      today = format.format(now)
      until = now - (now % QUARTER_HOUR_MS) + QUARTER_HOUR_MS
    }
    return today
  }
}

const utc = (date: string): number => Date.parse(`${date}T00:00:00Z`)

const isoDate = (date: Date): string => date.toISOString().slice(0, 10)
