import { dayOf, timeOf } from '../../csv/day-cell.ts'

const ISO = /^\d{4}-/
/** As gateway A writes a time. A spreadsheet that puts the month first would leave the seconds out. */
const SLASHED = /^(\d\d)\/(\d\d)\/(\d{4})( \d\d:\d\d:\d\d)?$/
/** As a spreadsheet set to India writes it. */
const DASHED = /^(\d\d)-(\d\d)-(\d{4})( \d\d?:\d\d(?::\d\d)?)?$/

type Reading = {
  /** Whether the gateway writes the day before a month that is a number. */
  isDayFirst: boolean
  /** Whether a day is enough. */
  isDay: boolean
}

/** What cannot be read is left to the check. ISO times stay as they are, because some ids contain their times. */
export function plainTime(text: string, { isDayFirst, isDay }: Reading): string {
  const iso = isDayFirst ? text.replace(SLASHED, '$3-$2-$1$4').replace(DASHED, '$3-$2-$1$4') : text
  const day = isDay ? dayOf(iso) : undefined
  if (day !== undefined) return `${day.iso} 00:00`
  return ISO.test(iso) ? iso : (timeOf(iso) ?? iso)
}
