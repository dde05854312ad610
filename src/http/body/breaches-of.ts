import { strangeIn } from '../fields/why.ts'
import { type FieldError, MAX_FIELD_ERRORS } from '../problem.ts'

/** None of our bodies is nested deeper than four levels. */
const MAX_DEPTH = 16
/** A longer name is cut in a path: each of a hundred breaches would repeat it. */
const MAX_NAME_CHARACTERS = 100
/** A double preserves this many decimal digits of any number. */
const MAX_DIGITS = 15
/** A double keeps a millionth, to which fields round, of a fraction with so many digits before its point. */
const FRACTION = /^-?\d{1,10}\.\d{1,30}$/

const codeOf = (character: string) => character.charCodeAt(0)
const QUOTE = codeOf('"')
const BACKSLASH = codeOf('\\')
const COMMA = codeOf(',')
const MINUS = codeOf('-')
const ZERO = codeOf('0')
const NINE = codeOf('9')
const OPEN_OBJECT = codeOf('{')
const CLOSE_OBJECT = codeOf('}')
const OPEN_ARRAY = codeOf('[')
const CLOSE_ARRAY = codeOf(']')

type Container = { keys: Set<string> | undefined; key: string | number; wantsKey: boolean }

/** Finds what parsers may read differently or a database cannot store. @param text that JSON.parse has accepted */
export function breachesOf(text: string): FieldError[] {
  const breaches: FieldError[] = []
  const stack: Container[] = []
  let top: Container | undefined
  for (let at = 0; at < text.length && breaches.length < MAX_FIELD_ERRORS; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      readString(text.slice(at + 1, end))
      at = end
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at)
      const lost = whyNotKept(text.slice(at, end))
      if (lost !== undefined) breach(lost)
      at = end - 1
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const isObject = code === OPEN_OBJECT
      top = { keys: isObject ? new Set() : undefined, key: 0, wantsKey: isObject }
      if (stack.push(top) > MAX_DEPTH)
        return [{ path: '', message: `is nested deeper than ${MAX_DEPTH} levels` }]
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      stack.pop()
      top = stack.at(-1)
    } else if (code === COMMA && top) {
      if (top.keys === undefined) top.key = Number(top.key) + 1
      else top.wantsKey = true
    }
  }
  return breaches

  function readString(written: string) {
    const string = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written
    const isKey = top?.wantsKey === true
    if (top && isKey) {
      top.key = string
      top.wantsKey = false
      if (top.keys?.has(string)) breach('is a duplicate name')
      if (string === '__proto__') breach('is not a known field')
      top.keys?.add(string)
    }
    const strange = string === written ? undefined : strangeIn(string, STORABLE)
    if (strange !== undefined) breach(strange)
  }

  function breach(message: string) {
    breaches.push({ path: stack.map(({ key }) => `/${escaped(key)}`).join(''), message })
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && '+-.eE0123456789'.includes(text[at] as string)) at++
  return at
}

function whyNotKept(number: string): string | undefined {
  if (number.length <= MAX_DIGITS && !/e/i.test(number)) return undefined
  if (FRACTION.test(number)) return undefined
  const digits = number
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    // The lookbehind starts a match at the first zero of a run: trying each of 250,000 zeros took minutes.
    .replace(/^0+|(?<!0)0+$/g, '')
  if (digits.length > MAX_DIGITS)
    return `has ${digits.length} significant digits, but at most ${MAX_DIGITS} are kept`
  const value = Number(number)
  if (!Number.isFinite(value)) return 'is too large a number'
  return value === 0 && digits !== '' ? 'is too small a number' : undefined
}

/** A character that is neither NUL nor half of a surrogate pair. */
const STORABLE = /[^\0\p{Cs}]/u

function escaped(key: string | number): string {
  const name = String(key)
  const shown = name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name
  return shown.replaceAll('~', '~0').replaceAll('/', '~1')
}
