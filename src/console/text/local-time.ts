import { isBeyondYears } from '../../http/fields/day-fields.ts'
import { invalidField } from '../../http/problem.ts'

/** @throws FieldErrors */
export function localTime(text: string, timeZone: string, field = 'until'): Date {
  const isShaped = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)
  const parsed = isShaped ? Date.parse(`${text}Z`) : Number.NaN
  // Date.parse takes 30 February for 2 March.
  const isReal = !Number.isNaN(parsed) && new Date(parsed).toISOString().startsWith(text)
  const asUtc = isReal ? parsed : Number.NaN
  // The offset is taken twice, because the first guess may fall on the other side of a clock change.
  const guess = asUtc - offsetAt(asUtc, timeZone)
  const time = asUtc - offsetAt(guess, timeZone)
  // The offset of a year that has not four digits is not a number.
  if (Number.isNaN(time) || isBeyondYears(time))
    throw invalidField(`/${field}`, 'must be a day and a time, such as 2026-03-05T18:30')
  return new Date(time)
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
