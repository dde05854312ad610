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
  comingLoan: ComingLoan | null
}

export type ComingLoan = { disbursedOn: string | null }

/** `refused`: as far as reads can tell. `unknown`: its loan could not be read. */
export type Finding = {
  finding: 'new' | 'in_ledger' | 'differs' | 'refused' | 'unknown'
  reason: string | null
}
export type RowFinding = Finding & { line: number }
