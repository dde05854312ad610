import type { Check } from '../finding.ts'
import { eachProduct } from './products.ts'

/** Most payments are in rupees and paise: a product that rounds them cannot take what was paid. */
const CODE = 'INR'
const DECIMALS = 2

export const currency: Check = {
  check: 'currency',
  expects: `each product is in ${CODE} with ${DECIMALS} decimals`,
  run: checked =>
    eachProduct(checked, async ({ name, currency: { code, decimalPlaces } }) => {
      const found = `${name}: ${code} with ${decimalPlaces} decimals`
      if (code === CODE && decimalPlaces === DECIMALS) return { state: 'ok', found }
      // No read shows in which currency a lender is paid.
      if (code !== CODE)
        return {
          state: 'differs',
          found,
          remedy: `Unless the lender’s payments are in ${code}, with no more decimals, set a product in ${CODE} in LENDERS_FILE`,
        }
      const remedy = `Change the currency of the product at the ledger: ${CODE} with ${DECIMALS} decimals`
      // With more of them, every payment is exact, but instalments are fractions of a paisa.
      return { state: decimalPlaces < DECIMALS ? 'breaks' : 'differs', found, remedy }
    }),
}
