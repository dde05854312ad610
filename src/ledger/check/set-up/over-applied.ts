import type { Check } from '../finding.ts'
import { eachProduct, shown } from './products.ts'

export const overApplied: Check = {
  check: 'product_over_applied',
  expects: 'no product pays out more than was applied for, or in tranches',
  run: checked =>
    eachProduct(checked, async product => {
      const { name, overAppliedNumber, overAppliedCalculationType, maxTrancheCount } = product
      const differences = [
        ...(shown(product, 'allowApprovedDisbursedAmountsOverApplied')
          ? [
              `lets loans exceed what was applied for by ${overAppliedNumber} (${overAppliedCalculationType})`,
            ]
          : []),
        ...(shown(product, 'multiDisburseLoan')
          ? [`pays out in up to ${maxTrancheCount} tranches, of which LoanOps pays out one`]
          : []),
      ]
      if (differences.length === 0) return { state: 'ok', found: `${name} does not` }
      return {
        state: 'differs',
        found: `${name} ${differences.join(', and ')}`,
        remedy: 'If the lender does not intend it, switch it off in the product at the ledger',
      }
    }),
}
