import { Decimal } from 'decimal.js'

/** Fineract calculates with 19 digits: 20 % a year, truncated to a monthly rate, is not exactly one sixtieth. */
export const LedgerDecimal = Decimal.clone({ precision: 19, rounding: Decimal.ROUND_HALF_EVEN })

export const Exact = Decimal.clone({ precision: 34, rounding: Decimal.ROUND_HALF_EVEN })

/** Exact up to 90 trillion rupees. */
export type Paise = number

export type Rounding = { decimalPlaces: number; inMultiplesOf: number }

const TO_PAISE: Rounding = { decimalPlaces: 2, inMultiplesOf: 0 }

/** Rounds as Fineract does: multiples apply only without decimals, and half a multiple rounds up. */
export function paise(rupees: Decimal, { decimalPlaces, inMultiplesOf } = TO_PAISE): Paise {
  const exact = new Exact(rupees)
  const isStepped = decimalPlaces === 0 && inMultiplesOf > 0
  const rounded = isStepped ? exact.toNearest(inMultiplesOf, Decimal.ROUND_HALF_UP) : exact
  return rounded.toDecimalPlaces(decimalPlaces).times(100).toNumber()
}

/** The amount as messages and `changes` show it: 1071.15. */
export function rupees(amount: Paise): number {
  return new Exact(amount).dividedBy(100).toNumber()
}

export function sum(amounts: Iterable<Paise>): Paise {
  let total = 0
  for (const amount of amounts) total += amount
  return total
}
