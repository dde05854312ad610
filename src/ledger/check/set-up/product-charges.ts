import { reasonAgainst } from '../../loans/charges.ts'
import { ownTerms } from '../../loans/own-terms.ts'
import type { ProductWithTerms } from '../../loans/product.ts'
import type { Check } from '../finding.ts'
import { numbered } from '../reads.ts'
import { eachProduct, shown } from './products.ts'

export const productCharges: Check = {
  check: 'product_charges',
  expects: 'no product prescribes charges, or terms that a request does not carry',
  run: checked =>
    eachProduct(checked, async ({ id }, { code, terms: { copied } }) => {
      const product = await numbered<ProductWithTerms>(checked.reads, 'loanproducts', id)
      const { name } = product
      const charges = shown(product, 'charges')
      const cannot = charges.flatMap(charge => {
        const reason = reasonAgainst(charge, product)
        return reason === undefined ? [] : [`${charge.name} (${reason})`]
      })
      if (copied && cannot.length > 0)
        return {
          state: 'breaks',
          found: `${name}: the charges ${cannot.join(', ')} cannot be applied`,
          remedy: `Change these charges at the ledger, or set productTerms of ${code} to "request" in LENDERS_FILE`,
        }
      const prescribed = [
        ...charges.map(charge => `${charge.name} of ${charge.amount}`),
        ...Object.entries(ownTerms(product)).map(([term, value]) => `${term} ${value}`),
      ]
      if (prescribed.length === 0) return { state: 'ok', found: `${name} prescribes none` }
      return {
        state: 'differs',
        found: `${name} prescribes ${prescribed.join(', ')}; a new loan ${copied ? 'gets' : 'does not get'} them`,
        remedy: `Check whether this is intended: productTerms of ${code} in LENDERS_FILE decides it`,
      }
    }),
}
