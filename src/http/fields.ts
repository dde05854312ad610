import { Kind, type Static, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import { DefaultErrorFunction, SetErrorFunction, ValueErrorType } from '@sinclair/typebox/errors'
import { Decimal } from 'decimal.js'
import { DATE_FORMAT, dayOfIso, namedDay } from '../day.ts'

/** Beyond this a JSON number no longer keeps every digit. */
const SIGNIFICANT_DIGITS = 15
const PAISA_DECIMALS = 2
/** Fineract keeps rates with six decimals. */
const RATE_DECIMALS = 6
const MAX_INT = 2_147_483_647

TypeRegistry.Set('Day', (_, value) => typeof value === 'string' && isDay(value))
TypeRegistry.Set('IsoDay', (_, value) => typeof value === 'string' && dayOfIso(value) !== undefined)
TypeRegistry.Set('Amount', (_, value) => isDecimal(value, PAISA_DECIMALS) && (value as number) > 0)
TypeRegistry.Set('OneOf', (schema: { enum: unknown[] }, value) => schema.enum.includes(value))
TypeRegistry.Set('Rate', (_, value) => isDecimal(value, RATE_DECIMALS) && (value as number) >= 0)

// A refusal says how the value would be right; the schema's description does.
SetErrorFunction(error => {
  if (error.errorType === ValueErrorType.ObjectRequiredProperty) return 'is required'
  if (error.errorType === ValueErrorType.ObjectAdditionalProperties) return 'is not a known field'
  const { description } = error.schema
  return description === undefined ? DefaultErrorFunction(error) : `must be ${description}`
})

export const Day = Type.Unsafe<string>({
  [Kind]: 'Day',
  type: 'string',
  description: `a day that exists, as ${DATE_FORMAT} with a full English month`,
  examples: ['05 March 2026'],
})

export const IsoDay = Type.Unsafe<string>({
  [Kind]: 'IsoDay',
  type: 'string',
  description: 'a day that exists, as YYYY-MM-DD',
  examples: ['2026-03-05'],
})

export const Amount = Type.Unsafe<number>({
  [Kind]: 'Amount',
  type: 'number',
  exclusiveMinimum: 0,
  description: 'a number above 0 with at most two decimals and 15 significant digits',
  examples: [50000],
})

export const Rate = Type.Unsafe<number>({
  [Kind]: 'Rate',
  type: 'number',
  minimum: 0,
  description: 'a number from 0 with at most six decimals, in the period of the lender’s product',
  examples: [18],
})

export const Count = Type.Integer({
  minimum: 1,
  maximum: MAX_INT,
  description: 'a whole number above 0',
  examples: [12],
})

/** Narrower than Fineract's own: its paths carry no more. */
export const EXTERNAL_ID = /^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,99}$/

export const ExternalId = Type.String({
  pattern: EXTERNAL_ID.source,
  description: 'an external id: 1 to 100 of A–Z a–z 0–9 _ . : -, not starting with . or :',
  examples: ['L-1001'],
})

/** A text that is not blank: Fineract takes a blank one for an absent one. */
export const Text = (maxLength: number, example: string) =>
  Type.String({
    maxLength,
    // Control characters have no place in a name or a reference, and PostgreSQL keeps no NUL.
    // Blanks, then one that is none, then anything: no part can be tried at more than one place, so that a text of
    // any length is read once.
    pattern:
      '^[^\\S\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
    description: `a text of 1 to ${maxLength} characters`,
    examples: [example],
  })

export const Note = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: 'a text of 1 to 1000 characters',
})

// Both in one word of JSON Schema each: of a union every branch has to be tried, for each value and each answer.

export const oneOf = <T extends string>(
  names: readonly T[],
  description = `one of ${names.join(', ')}`,
) => Type.Unsafe<T>({ [Kind]: 'OneOf', type: 'string', enum: [...names], description })

export const nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })

export const closed = { additionalProperties: false }

/** @param day as `dd MMMM yyyy` */
function isDay(day: string): boolean {
  return namedDay(day) !== undefined
}

function isDecimal(value: unknown, decimals: number): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false
  // Of so few digits no two numbers share a double: where the quotient is the value, it has these digits and no more.
  const scaled = Math.round(value * 10 ** decimals)
  if (Math.abs(scaled) < 10 ** SIGNIFICANT_DIGITS) return scaled / 10 ** decimals === value
  const exact = new Decimal(value)
  return exact.decimalPlaces() <= decimals && exact.precision(true) <= SIGNIFICANT_DIGITS
}
