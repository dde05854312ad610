/** How callers write a day, and how it goes to the ledger as it is: with `locale: en` it reads this form. */
export const DATE_FORMAT = 'dd MMMM yyyy'

const MONTHS =
  'January February March April May June July August September October November December'.split(' ')
const SHAPE = new RegExp(`^(\\d{2}) (${MONTHS.join('|')}) (\\d{4})$`)

// By hand, because loading date-fns costs each start a second of CPU time.

export type Day = [year: number, month: number, day: number]

/** @returns the day that a text of the form `dd MMMM yyyy` names, if it exists */
export function dayOf(text: string): Day | undefined {
  const [, date, name, year] = SHAPE.exec(text) ?? []
  if (name === undefined || Number(year) === 0) return undefined
  const day: Day = [Number(year), MONTHS.indexOf(name) + 1, Number(date)]
  // The calendar moves a day that does not exist into the next month.
  const found = new Date(0)
  found.setUTCFullYear(day[0], day[1] - 1, day[2])
  return found.getUTCDate() === day[2] ? day : undefined
}

/** @returns the day as `dd MMMM yyyy` */
export function dayText([year, month, day]: Day): string {
  return `${digits(day, 2)} ${MONTHS[month - 1]} ${digits(year, 4)}`
}

/** @returns the day as `yyyy-MM-dd`: later days compare as greater */
export function isoDay([year, month, day]: Day): string {
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`
}

const digits = (value: number, count: number) => String(value).padStart(count, '0')
