import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { Decimal } from 'decimal.js'
import { MAX_INT } from '../config/settings.ts'

/** Beyond this a JSON number no longer keeps every digit. */
const SIGNIFICANT_DIGITS = 15
const PAISA_DECIMALS = 2
/** Fineract stores rates with six decimals. */
const RATE_DECIMALS = 6

TypeRegistry.Set('Amount', (_, value) => isDecimal(value, PAISA_DECIMALS) && (value as number) > 0)
TypeRegistry.Set('Rate', (_, value) => isDecimal(value, RATE_DECIMALS) && (value as number) >= 0)

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

function isDecimal(value: unknown, decimals: number): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false
  // No two decimals with so few digits share a double: if dividing gives back the value, it has no further digits.
  const scaled = Math.round(value * 10 ** decimals)
  if (Math.abs(scaled) < 10 ** SIGNIFICANT_DIGITS) return scaled / 10 ** decimals === value
  const exact = new Decimal(value)
  return exact.decimalPlaces() <= decimals && exact.precision(true) <= SIGNIFICANT_DIGITS
}
