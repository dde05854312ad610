import type { Lender } from '../../config/lenders.ts'
import type { NewOperation } from '../../engine/accept.ts'
import type { Catalogue } from '../../engine/operation.ts'
import type { Ledger } from '../../ledger/client.ts'
import type { Reference } from '../../ledger/reference.ts'

export type Looker = {
  ledger: Ledger
  reference: Reference
  catalogue: Catalogue
  lenders: ReadonlyMap<string, Lender>
}

export type RowToLookAt = {
  line: number
  steps: NewOperation[]
  /** Set if a file that runs before this one will create the row's loan. */
  comingLoan: ComingLoan | null
}

/** @property disbursedOn as `yyyy-MM-dd`; null if the file does not disburse it */
export type ComingLoan = { disbursedOn: string | null }

/**
 * `new`: a run would write it. `refused`: the ledger would refuse it, as far as reads can tell. `unknown`:
 * its loan could not be read.
 */
export type Finding = {
  finding: 'new' | 'in_ledger' | 'differs' | 'refused' | 'unknown'
  reason: string | null
}
export type RowFinding = Finding & { line: number }
