import { at, textOf } from './exact-json.ts'
import { UnexpectedAnswer } from './gateway-call.ts'

/** Reads members of an answer; one that has not the expected type ends the fetch, and is named. */
export const shape = {
  text(value: unknown, path: string): string {
    const text = textOf(at(value, path))
    if (text === undefined) throw new UnexpectedAnswer(`${path} is missing`)
    return text
  },
  maybe: (value: unknown, path: string): string | null => textOf(at(value, path)) ?? null,
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
  /** Minor units as major ones. */
  minor(value: unknown, path: string): string {
    const text = shape.text(value, path)
    if (!/^-?\d{1,15}$/.test(text)) throw new UnexpectedAnswer(`${path} is no whole number`)
    const digits = text.replace('-', '').padStart(3, '0')
    return `${text.startsWith('-') ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
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
