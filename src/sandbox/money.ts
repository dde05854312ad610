import { Decimal } from 'decimal.js'

export const Exact = Decimal.clone({ precision: 34, rounding: Decimal.ROUND_HALF_EVEN })

/** Amounts are whole paise in a number: exact up to 90 million million rupees. */
export type Paise = number

export function paise(rupees: Decimal): Paise {
  return new Exact(rupees).times(100).toDecimalPlaces(0).toNumber()
}

/** 1071.15, as messages and `changes` show an amount. */
export function rupees(amount: Paise): number {
  return new Exact(amount).dividedBy(100).toNumber()
}

export function sum(amounts: Iterable<Paise>): Paise {
  let total = 0
  for (const amount of amounts) total += amount
  return total
}
