import { type Day, dayOfIso, dayOfParts, dayText, isoDay, monthNamed } from '../day.ts'

type DayOfFile = {
  text: string
  /** The day as `YYYY-MM-DD`: later days compare as greater. */
  iso: string
}

/** Formatted so, a column keeps its days when a spreadsheet saves it. */
const formatAs = (format: string) => `format the column as ${format} in the spreadsheet`
export const DAY_RULE = `must be a valid date from 1000 to 2999, such as 05 March 2026 or 2026-03-05: ${formatAs('yyyy-mm-dd')}`
export const TIME_RULE = `must be a valid time, such as 2026-03-05 10:15:30 or 2026-03-05T10:15:30+05:30: ${formatAs('yyyy-mm-dd hh:mm:ss')}`

/** Any other year is a typing error. */
const YEARS = { first: 1_000, last: 2_999 }
/** The million rows of a portfolio have only a few thousand different days. */
const MAX_KEPT_TEXTS = 20_000
const MAX_CHARACTERS = '05 September 2026 00:00:00.000'.length
const MAX_TIME_CHARACTERS = MAX_CHARACTERS + '000000+05:30'.length

/** A day with one separator throughout. A month that is a number may be meant as the day, so it needs its name. */
const NAMED = /^(\d{1,2})([-/ ])([a-z]{3,9})\2(\d{4}|\d{2})$/i
const MIDNIGHT = /^(.+?)[T ](00?:00(:00(\.0+)?)?|12:00(:00)? ?AM)$/i
const TIMED =
  /^([^:]+?)[T ](\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(?: ?([AP])M)?(Z|[+-](?:0\d|1[0-5]):[0-5]\d)?$/i

const kept = new Map<string, DayOfFile | undefined>()

export function dayOf(text: string): DayOfFile | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  if (!kept.has(text)) {
    if (kept.size >= MAX_KEPT_TEXTS) kept.clear()
    kept.set(copied(text), parsed(text))
  }
  return kept.get(text)
}

/** @returns the time as PostgreSQL reads it, with a zone if the text names one */
export function timeOf(text: string): string | undefined {
  if (text.length > MAX_TIME_CHARACTERS) return undefined
  const [, day = '', hours, minutes, seconds = '00', fraction = '', half, zone = ''] =
    TIMED.exec(text) ?? []
  const found = dayOf(day)
  const hour = hourOf(Number(hours), half)
  if (found === undefined || hour === undefined) return undefined
  if (Number(minutes) > 59 || Number(seconds) > 59) return undefined
  const time = `${String(hour).padStart(2, '0')}:${minutes}:${seconds}${fraction}`
  return `${found.iso} ${time}${zone.toUpperCase()}`
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 23 ? hour : undefined
  if (hour < 1 || hour > 12) return undefined
  return (hour % 12) + (half.toUpperCase() === 'P' ? 12 : 0)
}

/** A trimmed string shares the memory of its cell, and would keep the whole cell alive. */
const copied = (text: string): string => Buffer.from(text).toString()

function parsed(text: string): DayOfFile | undefined {
  // What is copied from a page or a letter has blanks that do not break, which nobody can see.
  const plain = text.replace(/[\u00a0\u202f]/g, ' ')
  const written = MIDNIGHT.exec(plain)?.[1] ?? plain
  const day = dayOfIso(written) ?? dayWithNamedMonth(written)
  if (day === undefined || day[0] < YEARS.first || day[0] > YEARS.last) return undefined
  return { text: dayText(day), iso: isoDay(day) }
}

function dayWithNamedMonth(text: string): Day | undefined {
  const [, date, , month = '', year = ''] = NAMED.exec(text) ?? []
  const fullYear = year.length === 2 ? centuryOf(Number(year)) : Number(year)
  return dayOfParts([fullYear, monthNamed(month), Number(date)])
}

/** No date in a file is further ahead than next year, and people were born in the 1900s. */
const centuryOf = (year: number): number =>
  2_000 + year <= new Date().getFullYear() + 1 ? 2_000 + year : 1_900 + year
