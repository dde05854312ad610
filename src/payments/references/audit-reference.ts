import { type Asker, audit } from '../../accounts/audit.ts'
import type { Trx } from '../../database/database.ts'
import { loanSubject } from '../../engine/operation.ts'

/** Audits a change of a reference under its loan, so that the loan's timeline shows it. */
export function auditReference(
  trx: Trx,
  asker: Asker,
  action: 'put' | 'replace' | 'delete',
  { external_loan_id: loan, ...detail }: Record<string, unknown> & { external_loan_id: string },
): Promise<void> {
  return audit(trx, { ...asker, action: `reference.${action}`, subject: loanSubject(loan), detail })
}
