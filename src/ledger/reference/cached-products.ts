import { misconfigured } from '../answers/misconfigured.ts'
import type { Ledger } from '../calls/client.ts'
import { ledgerPath } from '../calls/path.ts'
import type { ProductWithTerms } from '../loans/product.ts'
import { CORRECTED_WITHIN_MS, cached } from './cached.ts'

/** Cached only briefly, because a wrong charge of the product may be what operations wait for. */
export function openProducts(ledger: Pick<Ledger, 'read'>) {
  return cached(CORRECTED_WITHIN_MS, async (id: number): Promise<ProductWithTerms> => {
    const path = ledgerPath(['loanproducts', id])
    const answer = await ledger.read<ProductWithTerms>(path)
    if (answer.outcome === 'done') return answer.body
    throw misconfigured(path, `the ledger has no loan product ${id}: ${answer.message}`)
  })
}
