import type { Check } from '../finding.ts'
import { eachProduct } from './products.ts'

/** Payments are in rupees and paise: a currency that rounds them books another amount than was paid. */
const CODE = 'INR'
const DECIMALS = 2

export const currency: Check = {
  check: 'currency',
  expects: `each product is in ${CODE} with ${DECIMALS} decimals`,
  run: checked =>
    eachProduct(checked, async ({ name, currency: { code, decimalPlaces } }) => {
      const found = `${name}: ${code} with ${decimalPlaces} decimals`
      if (code === CODE && decimalPlaces === DECIMALS) return { state: 'ok', found }
      return {
        state: 'breaks',
        found,
        remedy: `Change the currency of the product at the ledger: ${CODE} with ${DECIMALS} decimals`,
      }
    }),
}
