/** Days are passed on to the ledger unchanged, with `locale: en`. */
export const DATE_FORMAT = 'dd MMMM yyyy'

export const DAY_MS = 86_400_000

const MONTHS =
  'January February March April May June July August September October November December'.split(' ')
const NAMED_SHAPE = new RegExp(`^(\\d{2}) (${MONTHS.join('|')}) (\\d{4})$`, 'i')
/** The number of a month, by its full name and by its first three letters, in lower case. */
const MONTH_NUMBERS = new Map([
  ...MONTHS.flatMap((name, i) =>
    [name, name.slice(0, 3)].map(one => [one.toLowerCase(), i + 1] as const),
  ),
  // The short form in the English of India, Britain and Australia.
  ['sept', 9],
])
const SHORT = ['April', 'June', 'September', 'November']
const NAMES = {
  all: inAnyCase(MONTHS),
  ofThirty: inAnyCase(MONTHS.filter(name => name !== 'February')),
  ofThirtyOne: inAnyCase(MONTHS.filter(name => name !== 'February' && !SHORT.includes(name))),
}
const YEAR = '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})'
const LEAP_YEAR = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)'

/** A pattern of exactly the days that exist, unanchored. */
export const NAMED_DAYS = `(0[1-9]|1[0-9]|2[0-8]) (${NAMES.all}) ${YEAR}|(29|30) (${NAMES.ofThirty}) ${YEAR}|31 (${NAMES.ofThirtyOne}) ${YEAR}|29 ${inAnyCase(['February'])} ${LEAP_YEAR}`

/** The same for programs that read our contract. */
export const DAY_PATTERN = `^(${NAMED_DAYS})$`

/** A pattern for the names in any case, for which JSON Schema has no flag. */
function inAnyCase(names: string[]): string {
  const letter = (one: string) => `[${one.toUpperCase()}${one.toLowerCase()}]`
  return names.map(name => [...name].map(letter).join('')).join('|')
}

/** Patterns of every valid `YYYY-MM-DD`, unanchored. */
export const ISO_DAYS = [
  `${YEAR}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])`,
  `${YEAR}-(0[13-9]|1[0-2])-(29|30)`,
  `${YEAR}-(0[13578]|1[02])-31`,
  `${LEAP_YEAR}-02-29`,
].join('|')

const ISO_SHAPE = /^(\d{4})-(\d{2})-(\d{2})$/

export type Day = [year: number, month: number, day: number]

/** The day of a text, whose month may be in any case. */
export function namedDay(text: string): Day | undefined {
  const [, date, name = '', year] = NAMED_SHAPE.exec(text) ?? []
  return dayOfParts([Number(year), monthNamed(name), Number(date)])
}

export function dayOfIso(text: string): Day | undefined {
  const [, year, month, date] = ISO_SHAPE.exec(text) ?? []
  return dayOfParts([Number(year), Number(month), Number(date)])
}

/** The number of a month by its full or its short name, in any case; 0 for no month. */
export function monthNamed(name: string): number {
  return MONTH_NUMBERS.get(name.toLowerCase()) ?? 0
}

/** @returns undefined if there is no such day */
export function dayOfParts(day: Day): Day | undefined {
  const [year, month, date] = day
  if (!(year > 0)) return undefined
  // Date moves a day that does not exist into another month.
  const found = new Date(0)
  found.setUTCFullYear(year, month - 1, date)
  return found.getUTCMonth() === month - 1 && found.getUTCDate() === date ? day : undefined
}

/** The day as `dd MMMM yyyy`. */
export function dayText([year, month, day]: Day): string {
  return `${digits(day, 2)} ${MONTHS[month - 1]} ${digits(year, 4)}`
}

/** A day as `dd MMMM yyyy`, from `YYYY-MM-DD`. */
export function textOfIso(iso: string): string {
  const day = dayOfIso(iso)
  return day === undefined ? iso : dayText(day)
}

/** The day as `YYYY-MM-DD`, which sorts by date. */
export function isoDay([year, month, day]: Day): string {
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`
}

const digits = (value: number, count: number) => String(value).padStart(count, '0')
