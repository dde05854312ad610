import { noProduct } from '../../answers/remedy.ts'
import { asSentence } from '../connection.ts'
import type { Check, CheckedLender, Found } from '../finding.ts'
import { type ListedProduct, productsIn } from './products.ts'

export const product: Check = {
  check: 'product',
  expects: 'the ledger has each lender’s products by name, and the first one takes new loans',
  async run({ reads, lenders }) {
    const products = await productsIn(reads)
    return lenders.map(lender => ({ ...findingOn(lender, products), lender: lender.code }))
  },
}

function findingOn({ code, products: names }: CheckedLender, products: ListedProduct[]): Found {
  const missing = names.filter(name => !products.some(one => one.name === name))
  if (missing.length > 0) {
    const { found, remedy } = noProduct(missing.join(', '), code)
    return { state: 'breaks', found, remedy: asSentence(remedy) }
  }
  const [first] = names
  const { status, isLinkedToFloatingInterestRates } = products.find(one => one.name === first) ?? {}
  if (status === 'loanProduct.inActive')
    return {
      state: 'breaks',
      found: `the loan product ${first} is closed: it takes no new loans`,
      remedy: `Move its close date at the ledger, or set another product of ${code} in LENDERS_FILE`,
    }
  if (isLinkedToFloatingInterestRates)
    return {
      state: 'breaks',
      found: `the loan product ${first} has a floating rate: the ledger refuses each loan that states its rate, as those of LoanOps do`,
      remedy: `Set a product with a fixed rate for ${code} in LENDERS_FILE`,
    }
  return { state: 'ok', found: names.join(', ') }
}
