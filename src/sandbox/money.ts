import { Decimal } from 'decimal.js'

export const Exact = Decimal.clone({ precision: 34, rounding: Decimal.ROUND_HALF_EVEN })

/** Amounts are whole paise in a number: exact up to 90 million million rupees. */
export type Paise = number

/** What amounts of a currency are rounded to. */
export type Rounding = { decimalPlaces: number; inMultiplesOf: number }

const TO_PAISE: Rounding = { decimalPlaces: 2, inMultiplesOf: 0 }

/** As the ledger rounds: multiples count only where there are no decimals, and half of one goes up. */
export function paise(rupees: Decimal, { decimalPlaces, inMultiplesOf } = TO_PAISE): Paise {
  const exact = new Exact(rupees)
  const isStepped = decimalPlaces === 0 && inMultiplesOf > 0
  const rounded = isStepped ? exact.toNearest(inMultiplesOf, Decimal.ROUND_HALF_UP) : exact
  return rounded.toDecimalPlaces(decimalPlaces).times(100).toNumber()
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
