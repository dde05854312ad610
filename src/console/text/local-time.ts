import { timeOf } from '../../csv/day-cell.ts'
import { isBeyondYears, QueriedTime } from '../../http/fields/day-fields.ts'
import { TAKE, takeValues } from '../../http/fields/take-values.ts'
import { WHY } from '../../http/fields/why.ts'
import { invalidField } from '../../http/problem.ts'

const LAST_OF_SECOND_MS = 999
const SHOWN = '2026-11-20 15:45:30'

/** @throws FieldErrors */
export function localTime(text: string, timeZone: string, field = 'until'): Date {
  const time = timeIn(text, timeZone)
  if (time === undefined)
    throw invalidField(`/${field}`, 'must be a day and a time, such as 2026-03-05T18:30')
  return time
}

/** Pages show times in seconds, so the end of a period is the whole of its second. */
export function localEnd(text: string, timeZone: string, field: string): Date {
  return endOf(localTime(text, timeZone, field))
}

const endOf = (time: Date) => new Date(time.getTime() + LAST_OF_SECOND_MS)

/** The times that bound a list, as the API takes them, or as the list and its file show them. */
export function localPeriod(timeZone: string) {
  const bound = (exact: (time: Date) => Date) => ({
    ...QueriedTime,
    [TAKE](value: unknown) {
      const sent = takeValues(QueriedTime, value)
      // The list has a comma behind the day.
      const text = typeof sent === 'string' ? timeOf(sent.replace(', ', ' ')) : undefined
      const time = text && timeIn(text.replace(' ', 'T'), timeZone)
      return time ? exact(time).toISOString() : sent
    },
    [WHY]: () => `must be a day and a time, such as ${SHOWN}`,
    examples: [SHOWN],
  })
  return { from: bound(time => time), to: bound(endOf) }
}

/** @returns undefined if the text is no such time */
function timeIn(text: string, timeZone: string): Date | undefined {
  const isShaped = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)
  const parsed = isShaped ? Date.parse(`${text}Z`) : Number.NaN
  // Date.parse takes 30 February for 2 March.
  const isReal = !Number.isNaN(parsed) && new Date(parsed).toISOString().startsWith(text)
  const asUtc = isReal ? parsed : Number.NaN
  // The offset is taken twice, because the first guess may fall on the other side of a clock change.
  const guess = asUtc - offsetAt(asUtc, timeZone)
  const time = asUtc - offsetAt(guess, timeZone)
  // The offset of a year that has not four digits is not a number.
  return Number.isNaN(time) || isBeyondYears(time) ? undefined : new Date(time)
}

function offsetAt(time: number, timeZone: string): number {
  if (Number.isNaN(time)) return time
  const shown = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  const whole = Math.floor(time / 1_000) * 1_000
  return Date.parse(`${shown.format(whole).replace(' ', 'T')}Z`) - whole
}
