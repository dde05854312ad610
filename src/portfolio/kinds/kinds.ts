import type { Catalogue } from '../../engine/operation.ts'
import type { Kind, MigrationType } from './kind.ts'
import { loanKind } from './loan-kind.ts'
import { repaymentKind } from './repayment-kind.ts'

export type Kinds = Record<MigrationType, Kind>

/** What can be uploaded. */
export function migrationKinds(catalogue: Catalogue): Kinds {
  return { loans: loanKind(catalogue), repayments: repaymentKind }
}
