import { dayOfIso } from '../../../day.ts'
import type { FoundPayment } from '../gateway-api.ts'
import { at, textOf, writtenOf } from './exact-json.ts'
import { UnexpectedAnswer } from './gateway-errors.ts'
import { UnreadableItem } from './read-each.ts'

/** The longest id that our own tables read. */
const MAX_CHARACTERS = 200

/** The format is that of base.iso_time_of, which reads the same item in the database. */
const ISO_TIME =
  /^[1-9]\d{3}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4])(:?[0-5]\d)?)?$/

/** Dates in ISO 8601 have four digits for the year. */
const YEAR_10000_SECONDS = 253_402_300_800

/** Reads members of a response; the error names the member whose type is wrong. */
export const shape = {
  text(value: unknown, path: string, read = textOf): string {
    const text = read(at(value, path))
    if (text === undefined) throw new UnreadableItem(`${path} is missing`)
    // PostgreSQL cannot store NUL, no path can hold a lone surrogate, and no id, amount or status contains either.
    if (!isShort(text) || /\p{Cc}/u.test(text) || !text.isWellFormed())
      throw new UnreadableItem(`${path} is not a short text`)
    return text
  },
  maybe: (value: unknown, path: string): string | null => shape.given(value, path, shape.text),
  /** What `read` finds at the path, or null if nothing is there. */
  given<T>(value: unknown, path: string, read: (value: unknown, path: string) => T): T | null {
    return textOf(at(value, path)) === undefined ? null : read(value, path)
  },
  list(value: unknown, path = ''): unknown[] {
    const list = path === '' ? value : at(value, path)
    if (!Array.isArray(list)) throw new UnexpectedAnswer(`${path || 'the answer'} is not a list`)
    return list
  },
  amount(value: unknown, path: string): string {
    const text = shape.text(value, path, writtenOf)
    if (!/^-?\d{1,15}(\.\d{1,6})?$/.test(text)) throw new UnreadableItem(`${path} is not an amount`)
    return text
  },
  whole(value: unknown, path: string): bigint {
    const text = shape.text(value, path)
    if (!/^-?\d{1,15}$/.test(text)) throw new UnreadableItem(`${path} is not a whole number`)
    return BigInt(text)
  },
  unixTime(value: unknown, path: string): Date {
    const seconds = Number(shape.text(value, path))
    if (!(seconds > 0 && seconds < YEAR_10000_SECONDS))
      throw new UnreadableItem(`${path} is not a Unix time`)
    return new Date(seconds * 1_000)
  },
  /** A time in ISO 8601; one without a zone is India's. */
  isoTime(value: unknown, path: string): Date {
    const text = shape.text(value, path).replace(' ', 'T')
    // Date accepts more, and turns 30 February into 2 March; the base models, which read the item again, do not.
    const isRead = ISO_TIME.test(text) && dayOfIso(text.slice(0, 10)) !== undefined
    const time = new Date(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}+05:30`)
    if (!isRead || Number.isNaN(time.getTime())) throw new UnreadableItem(`${path} is not a time`)
    return time
  },
  /** The same, or a day alone, which begins in India. */
  isoTimeOrDay(value: unknown, path: string): Date {
    const text = shape.text(value, path)
    return dayOfIso(text) === undefined
      ? shape.isoTime(value, path)
      : new Date(`${text}T00:00+05:30`)
  },
}

/** As in base.text_of, neither `.` nor `..` is an id, because every URL resolves them. */
const isShort = (text: string) => text.length <= MAX_CHARACTERS && !/^\.{1,2}$/.test(text)

/** A flag as text, whether it is a text, a number or neither. */
export const flagOf = (value: unknown) => (value === false ? 'false' : textOf(value))

/** @param amount as decimal text */
export const isZero = (amount: string): boolean => /^-?0+(\.0+)?$/.test(amount)

/** Whether the gateway says that money was refunded: the payments of some gateways say nothing. */
export const isRefunded = ({ refunded }: FoundPayment): boolean =>
  refunded !== null && !isZero(refunded)

/** Whether this may be a loan's name; free text is no error. @param tags the notes or tags of a payment or order */
export function namesLoan(tags: unknown): boolean {
  return ['external_loan_id', 'loan_id'].some(name => {
    const text = textOf(at(tags, name))
    return text !== undefined && isShort(text)
  })
}
