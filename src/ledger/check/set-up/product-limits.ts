import type { Check } from '../finding.ts'
import { eachProduct, type ListedProduct, shown } from './products.ts'

export const productLimits: Check = {
  check: 'product_limits',
  expects:
    'each product leaves a range of amounts and instalments, the same for every loan of a client',
  run: checked =>
    eachProduct(checked, async product => {
      const found = inWords(product)
      const { minPrincipal, maxPrincipal } = product
      const useBorrowerCycle = shown(product, 'useBorrowerCycle')
      const isFixed = minPrincipal !== undefined && minPrincipal === maxPrincipal
      if (!isFixed && !useBorrowerCycle) return { state: 'ok', found }
      return {
        state: 'differs',
        found: useBorrowerCycle ? `${found}, other ones after a client’s first loan` : found,
        remedy: 'Look whether the ledger would refuse loans that the lender makes',
      }
    }),
}

function inWords(product: ListedProduct): string {
  const of = (least: number | undefined, most: number | undefined) =>
    `${least ?? 'any'} to ${most ?? 'any'}`
  const principal = of(product.minPrincipal, product.maxPrincipal)
  const instalments = of(product.minNumberOfRepayments, product.maxNumberOfRepayments)
  const rate = of(product.minInterestRatePerPeriod, product.maxInterestRatePerPeriod)
  return `${product.name}: principal ${principal}, instalments ${instalments}, interest ${rate} %`
}
