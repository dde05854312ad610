import { FieldErrors } from '../../http/problem.ts'

/** @throws FieldErrors */
export function localTime(text: string, timeZone: string, field = 'until'): Date {
  const asUtc = Date.parse(`${text}Z`)
  if (Number.isNaN(asUtc) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text))
    throw new FieldErrors('INVALID_PAYLOAD', [
      { path: `/${field}`, message: 'must be a day and a time' },
    ])
  // Twice, because the first guess may fall on the other side of a clock change.
  const guess = asUtc - offsetAt(asUtc, timeZone)
  return new Date(asUtc - offsetAt(guess, timeZone))
}

function offsetAt(time: number, timeZone: string): number {
  const shown = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  const whole = Math.floor(time / 1_000) * 1_000
  return Date.parse(`${shown.format(whole).replace(' ', 'T')}Z`) - whole
}
