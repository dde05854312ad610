import { Kind, type Static, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import { DefaultErrorFunction, SetErrorFunction, ValueErrorType } from '@sinclair/typebox/errors'
import { Decimal } from 'decimal.js'
import { DATE_FORMAT, DAY_PATTERN, dayOfIso, ISO_DAYS, namedDay } from '../day.ts'
import { UUID } from '../ids.ts'

/** Beyond this a JSON number no longer keeps every digit. */
const SIGNIFICANT_DIGITS = 15
const PAISA_DECIMALS = 2
/** Fineract stores rates with six decimals. */
const RATE_DECIMALS = 6
const MAX_INT = 2_147_483_647

/** A day that exists, a time of day, and a zone. PostgreSQL reads no zone that is 16 hours away. */
const ISO_TIME = new RegExp(
  `^(${ISO_DAYS})T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+-](0[0-9]|1[0-5]):[0-5][0-9])$`,
)

export const WITHOUT_NUL = '^[^\\u0000]*$'

TypeRegistry.Set('Day', (_, value) => typeof value === 'string' && isDay(value))
TypeRegistry.Set('IsoDay', (_, value) => typeof value === 'string' && dayOfIso(value) !== undefined)
TypeRegistry.Set('Amount', (_, value) => isDecimal(value, PAISA_DECIMALS) && (value as number) > 0)
TypeRegistry.Set('Time', (_, value) => typeof value === 'string' && ISO_TIME.test(value))
TypeRegistry.Set('OneOf', (schema: { enum: unknown[] }, value) => schema.enum.includes(value))
// The handler checks it, because its refusal has a code of its own.
TypeRegistry.Set('Described', (_, value) => typeof value === 'string')
TypeRegistry.Set('Rate', (_, value) => isDecimal(value, RATE_DECIMALS) && (value as number) >= 0)

// A refusal says what would be valid, in the words of the schema's description.
SetErrorFunction(error => {
  if (error.errorType === ValueErrorType.ObjectRequiredProperty) return 'is required'
  if (error.errorType === ValueErrorType.ObjectAdditionalProperties) return 'is not a known field'
  const { description } = error.schema
  return description === undefined ? DefaultErrorFunction(error) : `must be ${description}`
})

export const Day = Type.Unsafe<string>({
  [Kind]: 'Day',
  type: 'string',
  pattern: DAY_PATTERN,
  description: `a day that exists, as ${DATE_FORMAT} with the full English month`,
  examples: ['05 March 2026'],
})

export const IsoDay = Type.Unsafe<string>({
  [Kind]: 'IsoDay',
  type: 'string',
  format: 'date',
  pattern: `^(${ISO_DAYS})$`,
  description: 'a day that exists, as YYYY-MM-DD',
  examples: ['2026-03-05'],
})

export const Time = Type.Unsafe<string>({
  [Kind]: 'Time',
  type: 'string',
  // Not `format: 'date-time'`, which requires the seconds.
  pattern: ISO_TIME.source,
  description: 'a time in ISO 8601 with its zone',
  examples: ['2026-11-20T10:15:30Z'],
})

export const Amount = Type.Unsafe<number>({
  [Kind]: 'Amount',
  type: 'number',
  exclusiveMinimum: 0,
  maximum: (10 ** SIGNIFICANT_DIGITS - 1) / 10 ** PAISA_DECIMALS,
  multipleOf: 1 / 10 ** PAISA_DECIMALS,
  description: 'a number above 0 with at most two decimals and 15 significant digits',
  examples: [50000],
})

export const Rate = Type.Unsafe<number>({
  [Kind]: 'Rate',
  type: 'number',
  minimum: 0,
  maximum: (10 ** SIGNIFICANT_DIGITS - 1) / 10 ** RATE_DECIMALS,
  multipleOf: 1 / 10 ** RATE_DECIMALS,
  description:
    'a number of 0 or more with at most six decimals, per period of the lender’s product',
  examples: [18],
})

/** An integer with more digits may be read as another number. */
export const MAX_WHOLE = 10 ** SIGNIFICANT_DIGITS - 1

export const Count = Type.Integer({
  minimum: 1,
  maximum: MAX_INT,
  description: 'a whole number above 0',
  examples: [12],
})

/** Narrower than what Fineract stores, because its paths accept no more. */
export const EXTERNAL_ID = /^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,99}$/

export const ExternalId = Type.String({
  pattern: EXTERNAL_ID.source,
  description: 'an external id: 1 to 100 of A–Z a–z 0–9 _ . : -, not starting with . or :',
  examples: ['L-1001'],
})

export const ClientId = { ...ExternalId, examples: ['C-1001'] }

/** Described only: the handler answers a text of another form like an unknown one. */
export const described = (pattern: string, description: string, example: string) =>
  Type.Unsafe<string>({
    [Kind]: 'Described',
    type: 'string',
    pattern,
    description,
    examples: [example],
  })

export const Id = described(UUID, 'an id', '019a0000-0000-7000-8000-000000000000')

/** Not blank: Fineract treats a blank text as absent. */
export const Text = (maxLength: number, example: string) =>
  Type.String({
    maxLength,
    // Never backtracks (blanks, one non-blank, anything), and excludes NUL, which PostgreSQL cannot store.
    pattern:
      '^[^\\S\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
    description: `a text of 1 to ${maxLength} characters`,
    examples: [example],
  })

export const Note = Type.String({
  minLength: 1,
  maxLength: 1000,
  pattern: WITHOUT_NUL,
  description: 'a text of 1 to 1000 characters',
  examples: ['Agreed with the borrower by telephone'],
})

// A union's branches would be tried one by one, for each value and each answer.

export const oneOf = <T extends string>(
  names: readonly T[],
  description = `one of ${names.join(', ')}`,
) => Type.Unsafe<T>({ [Kind]: 'OneOf', type: 'string', enum: [...names], description })

export const nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })

export const closed = { additionalProperties: false }

function isDay(day: string): boolean {
  return namedDay(day) !== undefined
}

function isDecimal(value: unknown, decimals: number): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false
  // No two decimals with so few digits share a double: if dividing gives back the value, it has no further digits.
  const scaled = Math.round(value * 10 ** decimals)
  if (Math.abs(scaled) < 10 ** SIGNIFICANT_DIGITS) return scaled / 10 ** decimals === value
  const exact = new Decimal(value)
  return exact.decimalPlaces() <= decimals && exact.precision(true) <= SIGNIFICANT_DIGITS
}
