import { at, textOf } from './exact-json.ts'
import { UnexpectedAnswer } from './gateway-call.ts'

/** As long as our own tables read an id. */
const MOST_CHARACTERS = 200

/** Reads members of an answer; one that has not the expected type ends the fetch, and is named. */
export const shape = {
  text(value: unknown, path: string): string {
    const text = textOf(at(value, path))
    if (text === undefined) throw new UnexpectedAnswer(`${path} is missing`)
    // PostgreSQL cannot store NUL, and no id, amount or status has such characters.
    if (text.length > MOST_CHARACTERS || /\p{Cc}/u.test(text))
      throw new UnexpectedAnswer(`${path} is no short text`)
    return text
  },
  /** Null where there is none. */
  maybe(value: unknown, path: string): string | null {
    return textOf(at(value, path)) === undefined ? null : shape.text(value, path)
  },
  list(value: unknown, path = ''): unknown[] {
    const list = path === '' ? value : at(value, path)
    if (!Array.isArray(list)) throw new UnexpectedAnswer(`${path || 'the answer'} is no list`)
    return list
  },
  /** A decimal number of major units. */
  amount(value: unknown, path: string): string {
    const text = shape.text(value, path)
    if (!/^-?\d{1,15}(\.\d{1,6})?$/.test(text)) throw new UnexpectedAnswer(`${path} is no amount`)
    return text
  },
  /** A whole number of minor units. */
  whole(value: unknown, path: string): bigint {
    const text = shape.text(value, path)
    if (!/^-?\d{1,15}$/.test(text)) throw new UnexpectedAnswer(`${path} is no whole number`)
    return BigInt(text)
  },
  unixTime(value: unknown, path: string): Date {
    const seconds = Number(shape.text(value, path))
    if (!(seconds > 0 && seconds < 253_402_300_800))
      throw new UnexpectedAnswer(`${path} is no Unix time`)
    return new Date(seconds * 1_000)
  },
  /** In ISO 8601; a time without a zone is India's. */
  isoTime(value: unknown, path: string): Date {
    const text = shape.text(value, path).replace(' ', 'T')
    const time = new Date(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}+05:30`)
    if (Number.isNaN(time.getTime())) throw new UnexpectedAnswer(`${path} is no time`)
    return time
  },
}

export function majorUnits(minor: bigint): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(3, '0')
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
