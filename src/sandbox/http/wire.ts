import { dateArray } from '../calendar.ts'
import { Exact, type Paise } from '../money.ts'

/** Not in TypeScript's types yet; it serializes 50000.000000 as a number with all its decimals. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

const known = new Map<Paise, unknown>()
const MAX_KNOWN = 20_000

/** Fineract's columns have six decimals, and its answers show all of them. */
export function amount(value: Paise): unknown {
  let raw = known.get(value)
  if (raw === undefined) {
    const digits = String(Math.abs(value)).padStart(3, '0')
    raw = rawJSON(`${value < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}0000`)
    if (known.size < MAX_KNOWN) known.set(value, raw)
  }
  return raw
}

export function rate(value: string): unknown {
  return rawJSON(new Exact(value).toFixed(6))
}

export function day(date: string | undefined): [number, number, number] | undefined {
  return date === undefined ? undefined : dateArray(date)
}

/** `?fields=id,name` keeps these members of an object, or of each element of a list. */
export function onlyFields(body: unknown, fields: string | null): unknown {
  if (!fields || typeof body !== 'object' || body === null) return body
  if (Array.isArray(body)) return body.map(element => onlyFields(element, fields))
  const wanted = new Set(fields.split(',').map(field => field.trim()))
  return Object.fromEntries(Object.entries(body).filter(([name]) => wanted.has(name)))
}
