import type { Catalogue } from '../../engine/operation.ts'
import type { Ledger } from '../../ledger/client.ts'
import type { Reference } from '../../ledger/reference.ts'
import type { Slots } from '../../ledger/slots.ts'
import type { Lender } from '../../lenders.ts'
import type { Kinds } from '../kinds/kinds.ts'

/** What a dry run looks with: reads only. */
export type Looker = {
  ledger: Ledger
  reference: Reference
  slots: Slots
  catalogue: Catalogue
  lenders: ReadonlyMap<string, Lender>
  kinds: Kinds
}

/**
 * `new`: it would be written. `refused`: the ledger would refuse it, as far as reading tells. `unknown`: what the ledger
 * has of its loan could not be read.
 */
export type Found = {
  line: number
  finding: 'new' | 'in_ledger' | 'differs' | 'refused' | 'unknown'
  reason: string | null
}
