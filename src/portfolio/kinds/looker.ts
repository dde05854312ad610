import type { Lender } from '../../config/lenders.ts'
import type { Database } from '../../database/database.ts'
import type { NewOperation } from '../../engine/accept.ts'
import type { Catalogue } from '../../engine/operation.ts'
import type { Ledger } from '../../ledger/calls/client.ts'
import type { ReferenceData } from '../../ledger/reference/reference.ts'

export type Looker = {
  db: Database
  ledger: Ledger
  reference: ReferenceData
  catalogue: Catalogue
  lenders: ReadonlyMap<string, Lender>
}

export type RowToLookAt = {
  migrationId: string
  line: number
  steps: NewOperation[]
  comingLoan: ComingLoan | null
}

/** A row of the file that creates the loan, before this one. */
export type ComingLoan = {
  line: number
  /** Whether the row would be refused, as far as its own dry run can tell. */
  isRefused: boolean
  disbursedOn: string | null
  lender: string | null
}

/** `refused`: the run would refuse the row, as far as reads can tell. `unknown`: the row's loan could not be read. */
export type DryRunFinding = {
  finding: 'new' | 'in_ledger' | 'differs' | 'refused' | 'unknown'
  reason: string | null
}
export type RowFinding = DryRunFinding & { line: number }

export const refusedRow = (reasons: string[]): DryRunFinding => ({
  finding: 'refused',
  reason: reasons.join('; '),
})
