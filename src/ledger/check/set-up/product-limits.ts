import type { Check } from '../finding.ts'
import { eachProduct, type ListedProduct, shown } from './products.ts'

export const productLimits: Check = {
  check: 'product_limits',
  expects:
    'each product leaves a range of amounts and instalments, the same for every loan of a client, and the day of the disbursement',
  run: checked =>
    eachProduct(checked, async product => {
      const { minPrincipal, maxPrincipal } = product
      const useBorrowerCycle = shown(product, 'useBorrowerCycle')
      const isOnExpectedDay = shown(product, 'syncExpectedWithDisbursementDate')
      const isFixed = minPrincipal !== undefined && minPrincipal === maxPrincipal
      const found = [
        inWords(product),
        ...(useBorrowerCycle ? ['other ones after a client’s first loan'] : []),
        ...(isOnExpectedDay ? ['disbursed on the expected day alone, that of the approval'] : []),
      ].join(', ')
      if (!isFixed && !useBorrowerCycle && !isOnExpectedDay) return { state: 'ok', found }
      return { state: 'differs', found, remedy: isOnExpectedDay ? SWITCH_OFF : LOOK }
    }),
}

const LOOK = 'Look whether the ledger would refuse loans that the lender makes'
const SWITCH_OFF =
  'Unless the lender disburses every loan on the day of its approval, switch syncExpectedWithDisbursementDate off in the product at the ledger'

function inWords(product: ListedProduct): string {
  const of = (least: number | undefined, most: number | undefined) =>
    `${least ?? 'any'} to ${most ?? 'any'}`
  const principal = of(product.minPrincipal, product.maxPrincipal)
  const instalments = of(product.minNumberOfRepayments, product.maxNumberOfRepayments)
  const rate = of(product.minInterestRatePerPeriod, product.maxInterestRatePerPeriod)
  return `${product.name}: principal ${principal}, instalments ${instalments}, interest ${rate} %`
}
