import { dayText, isoDay } from '../../../day.ts'
import { capitalised } from '../../../text/capitalised.ts'
import { noProduct } from '../../answers/remedy.ts'
import { today } from '../../day-format.ts'
import { wantsTranches } from '../../loans/product.ts'
import type { Check, CheckedLender, Found } from '../finding.ts'
import { type ListedProduct, productsIn } from './products.ts'

export const product: Check = {
  check: 'product',
  expects: 'the ledger has each lender’s products by name, and the first one takes new loans',
  async run({ reads, lenders, settings: { LEDGER_TIMEZONE } }) {
    const products = await productsIn(reads)
    const day = today(LEDGER_TIMEZONE)
    return lenders.map(lender => ({ ...findingOn(lender, products, day), lender: lender.code }))
  },
}

function findingOn(
  { code, products: names }: CheckedLender,
  products: ListedProduct[],
  day: string,
): Found {
  const missing = names.filter(name => !products.some(one => one.name === name))
  if (missing.length > 0) {
    const { found, remedy } = noProduct(missing.join(', '), code)
    return { state: 'breaks', found, remedy: capitalised(remedy) }
  }
  const first = products.find(one => one.name === names[0])
  const refusing = first && refusingEach(first, day)
  if (refusing === undefined) return { state: 'ok', found: names.join(', ') }
  const { why, change } = refusing
  return {
    state: 'breaks',
    found: `the loan product ${names[0]} ${why}`,
    remedy: `${change}, or set another product of ${code} in LENDERS_FILE`,
  }
}

/** Why the ledger refuses each application for the product, and what to change there. */
function refusingEach(product: ListedProduct, day: string) {
  const { status, startDate, isLinkedToFloatingInterestRates } = product
  if (status === 'loanProduct.inActive')
    return { why: 'is closed: it takes no new loans', change: 'Move its close date at the ledger' }
  if (startDate !== undefined && isoDay(startDate) > day)
    return {
      why: `takes no loans before ${dayText(startDate)}, its start date`,
      change: 'Move its start date at the ledger',
    }
  if (isLinkedToFloatingInterestRates)
    return {
      why: 'has a floating rate: the ledger refuses each loan that states its rate, as those of LoanOps do',
      change: 'Give it a fixed rate at the ledger',
    }
  if (wantsTranches(product))
    return {
      why: 'wants the tranches of each loan, which LoanOps does not state',
      change: 'Let it disallow expected disbursements at the ledger',
    }
  return undefined
}
