import { dayOf, timeOf } from '../../csv/day-cell.ts'

const ISO = /^\d{4}-/
/** A time as gateway A writes it. With the month first, Excel leaves the seconds out; Calc does not. */
const SLASHED = /^(\d\d)\/(\d\d)\/(\d{4})( \d\d:\d\d:\d\d)?$/
/** A time as a spreadsheet with India's settings writes it. */
const DASHED = /^(\d\d)-(\d\d)-(\d{4})( \d\d?:\d\d(?::\d\d)?)?$/

type Reading = {
  /** Whether the day comes before a month that is a number, and a time without a zone is India's. */
  isIndian: boolean
  /** Whether a day is enough. */
  isDay: boolean
}

/** A time that cannot be read is left to the check. */
export function plainTime(text: string, { isIndian, isDay }: Reading): string {
  const iso = isIndian ? text.replace(SLASHED, '$3-$2-$1$4').replace(DASHED, '$3-$2-$1$4') : text
  const day = isDay ? dayOf(iso) : undefined
  if (day !== undefined) return `${day.iso} 00:00`
  return ISO.test(iso) ? iso : (timeOf(iso) ?? iso)
}
