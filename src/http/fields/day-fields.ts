import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { DATE_FORMAT, DAY_PATTERN, dayOfIso, dayText, ISO_DAYS, namedDay } from '../../day.ts'
import { TAKE, trimText } from './take-values.ts'
import { kindOfValue, WHY, type Why } from './why.ts'

/** A calendar day, a time of day, and a zone. PostgreSQL reads no zone that is 16 hours away. */
const ISO_TIME = new RegExp(
  `^(${ISO_DAYS})T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+-](0[0-9]|1[0-5]):[0-5][0-9])$`,
)

TypeRegistry.Set('Day', (_, value) => typeof value === 'string' && isDay(value))
TypeRegistry.Set('IsoDay', (_, value) => typeof value === 'string' && dayOfIso(value) !== undefined)
TypeRegistry.Set(
  'Time',
  (_, value) => typeof value === 'string' && ISO_TIME.test(value) && !isBeyondYears(value),
)

/** The day as the ledger writes it, which reads only that form. */
function takeDay(value: unknown): unknown {
  const text = trimText(value)
  const day = typeof text === 'string' ? namedDay(text) : undefined
  return day === undefined ? text : dayText(day)
}

export const DayField = Type.Unsafe<string>({
  [Kind]: 'Day',
  [WHY]: whyDay(
    /^\d{2} [A-Za-z]+ \d{4}$/,
    `${DATE_FORMAT} with the full English month, such as 05 March 2026`,
  ),
  [TAKE]: takeDay,
  type: 'string',
  pattern: DAY_PATTERN,
  description: `a calendar day, as ${DATE_FORMAT} with the full English month in any case`,
  examples: ['05 March 2026'],
})

export const IsoDay = Type.Unsafe<string>({
  [Kind]: 'IsoDay',
  [WHY]: whyDay(/^\d{4}-\d{2}-\d{2}$/, 'YYYY-MM-DD, such as 2026-03-05'),
  [TAKE]: trimText,
  type: 'string',
  format: 'date',
  pattern: `^(${ISO_DAYS})$`,
  description: 'a calendar day, as YYYY-MM-DD',
  examples: ['2026-03-05'],
})

export const Time = Type.Unsafe<string>({
  [Kind]: 'Time',
  [WHY]: whyTime,
  [TAKE]: trimText,
  type: 'string',
  // `format: 'date-time'` would require the seconds.
  pattern: ISO_TIME.source,
  description: 'a time in ISO 8601 with its zone',
  examples: ['2026-11-20T10:15:30Z'],
})

/** In a query, the plus of a zone arrives as a blank unless it was encoded. */
export const QueriedTime = {
  ...Time,
  [TAKE](value: unknown): unknown {
    const text = trimText(value)
    return typeof text === 'string' ? text.replace(/(?<=T[\d:.]+) (?=\d\d:\d\d$)/, '+') : text
  },
}

/** In UTC, in which times are answered, the year would not have four digits. */
export function isBeyondYears(time: string | number): boolean {
  return !/^(?!0000)\d{4}-/.test(new Date(time).toISOString())
}

const isDay = (day: string): boolean => namedDay(day) !== undefined

function whyDay(shape: RegExp, form: string): Why {
  return value => {
    if (typeof value !== 'string') return `must be a day as ${form}, not ${kindOfValue(value)}`
    const month = value.split(' ')[1]
    const isNamed = month === undefined || namedDay(`01 ${month} 2000`) !== undefined
    return shape.test(value) && isNamed
      ? 'is a day that does not exist'
      : `must be a day as ${form}`
  }
}

function whyTime(value: unknown): ReturnType<Why> {
  if (typeof value !== 'string') return `must be a time, not ${kindOfValue(value)}`
  const [day = '', time = ''] = value.split('T')
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && dayOfIso(day) === undefined)
    return 'is on a day that does not exist'
  if (/^[\d:.]+$/.test(time)) return 'has no zone, such as Z or +05:30'
  if (ISO_TIME.test(value)) return 'must be in the years 0001 to 9999 in UTC'
  return 'must be a time in ISO 8601 with its zone, such as 2026-11-20T10:15:30Z'
}
