import type { Ledger } from './client.ts'
import { kept } from './kept.ts'
import { misconfigured } from './misconfigured.ts'
import { ledgerPath } from './path.ts'
import type { ProductWithTerms } from './product.ts'

/** A loan gets the terms that its product had at most this long ago. */
const KEPT_MS = 60_000

export function openProducts(ledger: Pick<Ledger, 'read'>) {
  return kept(KEPT_MS, async (id: number): Promise<ProductWithTerms> => {
    const path = ledgerPath(['loanproducts', id])
    const answer = await ledger.read<ProductWithTerms>(path)
    if (answer.outcome === 'done') return answer.body
    throw misconfigured(path, `the ledger has no loan product ${id}: ${answer.message}`)
  })
}
