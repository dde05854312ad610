import type { Lender } from '../config/lenders.ts'
import type { Catalogue } from '../engine/operation.ts'
import { clientCreate } from './client-create.ts'
import { clientUpdate } from './client-update.ts'
import { loanApprove } from './loan-approve.ts'
import { loanCreate } from './loan-create.ts'
import { loanDelete } from './loan-delete.ts'
import { loanDisburse } from './loan-disburse.ts'
import { loanUpdate } from './loan-update.ts'

export function operationCatalogue(lenders: ReadonlyMap<string, Lender>): Catalogue {
  const operations = [
    clientCreate,
    clientUpdate,
    loanCreate(lenders),
    loanUpdate,
    loanApprove,
    loanDisburse,
    loanDelete,
  ]
  return new Map(operations.map(operation => [operation.name, operation]))
}
