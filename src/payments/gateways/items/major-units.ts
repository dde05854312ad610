import { Decimal } from 'decimal.js'

/** @returns the amount in major units, as decimal text with all decimals of the currency */
export type MajorUnits = (minor: bigint, currency: string | null) => string

/** The value of one minor unit of each currency and, under the empty name, of any other. */
export type MinorUnits = { readonly [currency: string]: number; '': number }

export function majorUnits(units: MinorUnits): MajorUnits {
  return (minor, currency) => {
    const unit = new Decimal(units[currency ?? ''] ?? units[''])
    return unit.mul(String(minor)).toFixed(unit.decimalPlaces())
  }
}
