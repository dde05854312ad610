import { isProgressive } from '../../loans/loan.ts'
import type { Check } from '../finding.ts'
import { eachProduct, shown } from './products.ts'

export const interestRecalculation: Check = {
  check: 'product_interest_recalculation',
  expects: 'no product recalculates interest with each repayment',
  run: checked =>
    eachProduct(checked, async product =>
      shown(product, 'isInterestRecalculationEnabled')
        ? {
            state: 'differs',
            found: `${product.name} recalculates interest: each payment changes the schedule${isProgressive(product) ? '' : ', and only the last one can be undone'}`,
            remedy:
              'If the lender’s schedules are fixed, switch it off in the product at the ledger',
          }
        : { state: 'ok', found: `${product.name} does not` },
    ),
}
