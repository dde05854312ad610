import { sql } from 'kysely'
import type { Asker } from '../../accounts/audit.ts'
import type { Trx } from '../../database/database.ts'
import { putReference } from './put-reference.ts'
import type { ReferenceKind, ReferenceName } from './reference-record.ts'

/** Saves the payment's own references of these kinds for the loan. @throws Conflict if one belongs to another loan */
export async function remember(
  trx: Trx,
  { payment, loan, kinds }: { payment: string; loan: string; kinds: ReferenceKind[] },
  asker: Asker,
) {
  const { rows } = await sql<ReferenceName>`
    select t.gateway, k.kind, substr(ref, length(k.kind) + 2) as value
      from core.transaction t cross join lateral unnest(t.refs) ref cross join lateral split_part(ref, ':', 1) k (kind)
     where t.id = ${payment} and k.kind = any(${kinds})
     order by ref`.execute(trx)
  for (const one of rows) await putReference(trx, { ...one, external_loan_id: loan }, asker)
}
