import type { Ledger } from './client.ts'
import { misconfigured } from './misconfigured.ts'
import { ledgerPath } from './path.ts'
import type { ProductWithTerms } from './product.ts'

/** A loan gets the terms that its product had at most this long ago. */
const KEPT_MS = 60_000

type Kept = { product: Promise<ProductWithTerms>; readAt: number }

/** One read of a product serves all that need it at the time. One that failed is not kept. */
export function openProducts(ledger: Pick<Ledger, 'read'>) {
  const products = new Map<number, Kept>()

  return (id: number): Promise<ProductWithTerms> => {
    const known = products.get(id)
    if (known !== undefined && performance.now() - known.readAt < KEPT_MS) return known.product
    const kept = { product: read(id), readAt: performance.now() }
    products.set(id, kept)
    kept.product.catch(() => {
      if (products.get(id) === kept) products.delete(id)
    })
    return kept.product
  }

  async function read(id: number): Promise<ProductWithTerms> {
    const path = ledgerPath(['loanproducts', id])
    const answer = await ledger.read<ProductWithTerms>(path)
    if (answer.outcome === 'done') return answer.body
    throw misconfigured(path, `the ledger has no loan product ${id}: ${answer.message}`)
  }
}
