import { Decimal } from 'decimal.js'

/** A number as written: a double would lose digits of ids and decimals of amounts. */
type ExactNumber = { rawJSON: string }
type Reviver = (name: string, value: unknown, context: { source?: string }) => unknown
const { rawJSON } = JSON as unknown as { rawJSON(text: string): ExactNumber }

export function parseExact(text: string): unknown {
  const reviver: Reviver = (_, value, { source }) =>
    typeof value === 'number' ? rawJSON(source as string) : value
  return JSON.parse(text, reviver as (name: string, value: unknown) => unknown)
}

/** A text, or a number as base.text_of writes it: 7, 7.0 and 0.7e1 are the same id, 100.10 and 100.1 are not. */
export function textOf(value: unknown): string | undefined {
  return writtenOf(isNumber(value) ? plain(value.rawJSON) : value)
}

/** A text, or a number as written, because the zeros of an amount are shown. */
export function writtenOf(value: unknown): string | undefined {
  const text = isNumber(value) ? value.rawJSON : value
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined
}

const isNumber = (value: unknown): value is ExactNumber =>
  typeof value === 'object' && value !== null && 'rawJSON' in value

/** Beyond this, a short number such as 1e130000 would be a long text. */
const MAX_DIGITS = 60

function plain(written: string): string {
  const number = new Decimal(written)
  const [, decimals = '', exponent = '0'] = /(?:\.(\d+))?(?:e(.+))?$/i.exec(written) ?? []
  const scale = Math.max(0, decimals.length - Number(exponent))
  if (number.e >= MAX_DIGITS || scale > MAX_DIGITS) return written
  return number.toFixed(number.isInteger() ? 0 : scale)
}

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null)?.[name], value)
}
