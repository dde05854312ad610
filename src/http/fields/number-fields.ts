import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { Decimal } from 'decimal.js'
import { MAX_INT } from '../../config/settings/settings.ts'
import { TAKE } from './take-values.ts'
import { kindOfValue, WHY, type Why } from './why.ts'

/** With more digits, a JSON number does not keep every digit. */
const SIGNIFICANT_DIGITS = 15
const PAISA_DECIMALS = 2
/** Fineract stores rates with six decimals. */
const RATE_DECIMALS = 6

TypeRegistry.Set('Amount', (_, value) => isDecimal(value, PAISA_DECIMALS) && (value as number) > 0)
TypeRegistry.Set('Rate', (_, value) => isDecimal(value, RATE_DECIMALS) && (value as number) >= 0)

/** The difference between doubles that were computed in different ways. */
const NOISE = 1e-6

/** A sum of doubles seldom has exactly two decimals. */
function takeAmount(value: unknown): unknown {
  if (typeof value !== 'number' || !Number.isFinite(value)) return value
  const nearest = new Decimal(value).toDecimalPlaces(PAISA_DECIMALS)
  return nearest.minus(value).abs().lte(NOISE) ? nearest.toNumber() : value
}

/** The ledger would round a longer rate in a way of its own. */
function takeRate(value: unknown): unknown {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return value
  return new Decimal(value).toDecimalPlaces(RATE_DECIMALS, Decimal.ROUND_HALF_EVEN).toNumber()
}

export const Amount = Type.Unsafe<number>({
  [Kind]: 'Amount',
  [TAKE]: takeAmount,
  [WHY]: whyNumber(PAISA_DECIMALS, decimalLimits(PAISA_DECIMALS, { isZeroAllowed: false })),
  type: 'number',
  exclusiveMinimum: 0,
  maximum: (10 ** SIGNIFICANT_DIGITS - 1) / 10 ** PAISA_DECIMALS,
  // There is no `multipleOf`: validators divide doubles, and would refuse 0.07.
  description:
    'a number above 0 with at most two decimals and 15 significant digits; what differs from it by at most a millionth is taken for it',
  examples: [50000],
})

export const Rate = Type.Unsafe<number>({
  [Kind]: 'Rate',
  [TAKE]: takeRate,
  [WHY]: whyNumber(RATE_DECIMALS, decimalLimits(RATE_DECIMALS, { isZeroAllowed: true })),
  type: 'number',
  minimum: 0,
  maximum: (10 ** SIGNIFICANT_DIGITS - 1) / 10 ** RATE_DECIMALS,
  description:
    'a number of 0 or more, rounded to six decimals, half to even; per period of the lender’s product',
  examples: [18],
})

/** An integer with more digits may be read as another number. */
export const MAX_WHOLE = 10 ** SIGNIFICANT_DIGITS - 1

export const Count = Type.Integer({
  [WHY]: whyNumber(0, countLimits),
  minimum: 1,
  maximum: MAX_INT,
  description: 'a whole number above 0',
  examples: [12],
})

function isDecimal(value: unknown, decimals: number): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false
  // Decimals with so few digits never share a double. If rounding and dividing give the value back, it has no further
  // digits.
  const scaled = Math.round(value * 10 ** decimals)
  if (Math.abs(scaled) < 10 ** SIGNIFICANT_DIGITS) return scaled / 10 ** decimals === value
  const exact = new Decimal(value)
  return exact.decimalPlaces() <= decimals && exact.precision(true) <= SIGNIFICANT_DIGITS
}

/** @param limits what is wrong with a number, if anything */
function whyNumber(decimals: number, limits: (number: number) => string | undefined): Why {
  return value => {
    if (typeof value === 'number') return limits(value)
    if (typeof value !== 'string') return `must be a number, not ${kindOfValue(value)}`
    const digits = value.replace(/\D/g, '').length
    if (/^\d+(\.\d+)?$/.test(value) && digits > SIGNIFICANT_DIGITS) return tooManyDigits(digits)
    // In a text, zeros count: it may come from a country with a decimal comma.
    const has = /^\d+\.(\d+)$/.exec(value)?.[1]?.length ?? 0
    if (has > decimals) return tooManyDecimals(has, decimals)
    const number = value.trim() === '' ? Number.NaN : Number(value)
    return Number.isFinite(number)
      ? (limits(number) ?? `must be written as the number ${number}`)
      : 'must be a number in digits, without separators or a currency, and with a point before any decimals'
  }
}

function countLimits(count: number): string | undefined {
  if (count < 1) return `must be a whole number above 0, not ${count}`
  if (!Number.isInteger(count)) return `must be a whole number, not ${count}`
  return count > MAX_INT ? `must be at most ${MAX_INT}` : undefined
}

function decimalLimits(decimals: number, { isZeroAllowed }: { isZeroAllowed: boolean }) {
  return (number: number): string | undefined => {
    if (number < 0 || (number === 0 && !isZeroAllowed))
      return `must be ${isZeroAllowed ? '0 or more' : 'above 0'}`
    const exact = new Decimal(number)
    if (exact.gte(10 ** SIGNIFICANT_DIGITS)) return `must be below ${10 ** SIGNIFICANT_DIGITS}`
    const has = exact.decimalPlaces()
    if (has > decimals) return tooManyDecimals(has, decimals)
    const digits = exact.precision(true)
    return digits > SIGNIFICANT_DIGITS ? tooManyDigits(digits) : undefined
  }
}

function tooManyDecimals(has: number, decimals: number): string {
  if (decimals === 0) return 'must be a whole number without a decimal point'
  return `has ${has} decimals, but at most ${decimals} are kept`
}

const tooManyDigits = (digits: number) =>
  `has ${digits} digits, but at most ${SIGNIFICANT_DIGITS} are kept`
