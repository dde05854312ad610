/** How callers write a day, and how it goes to the ledger as it is: with `locale: en` it reads this form. */
export const DATE_FORMAT = 'dd MMMM yyyy'

const MONTHS =
  'January February March April May June July August September October November December'.split(' ')
const NAMED_SHAPE = new RegExp(`^(\\d{2}) (${MONTHS.join('|')}) (\\d{4})$`)
const ISO_SHAPE = /^(\d{4})-(\d{2})-(\d{2})$/

// By hand, because loading date-fns costs each start a second of CPU time.

/** As Fineract answers it too: `[2026, 3, 5]`. */
export type Day = [year: number, month: number, day: number]

/** @returns the day that a text of the form `dd MMMM yyyy` names, if it exists */
export function namedDay(text: string): Day | undefined {
  const [, date, name = '', year] = NAMED_SHAPE.exec(text) ?? []
  return existing([Number(year), MONTHS.indexOf(name) + 1, Number(date)])
}

/** @returns the day that a text of the form `yyyy-MM-dd` names, if it exists */
export function dayOfIso(text: string): Day | undefined {
  const [, year, month, date] = ISO_SHAPE.exec(text) ?? []
  return existing([Number(year), Number(month), Number(date)])
}

function existing(day: Day): Day | undefined {
  const [year, month, date] = day
  if (!(year > 0)) return undefined
  // The calendar moves a day that does not exist into another month.
  const found = new Date(0)
  found.setUTCFullYear(year, month - 1, date)
  return found.getUTCMonth() === month - 1 && found.getUTCDate() === date ? day : undefined
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
