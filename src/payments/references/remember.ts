import { sql } from 'kysely'
import type { Asker } from '../../accounts/audit.ts'
import type { Trx } from '../../database/database.ts'
import { putReference } from './put-reference.ts'
import type { ReferenceKind } from './reference-record.ts'

type Remembered = { payment: string; gateway: string; loan: string; kinds: ReferenceKind[] }

/** Stores the payment's own references of these kinds for the loan. @throws Conflict if one belongs to another loan */
export async function remember(
  trx: Trx,
  { payment, gateway, loan, kinds }: Remembered,
  asker: Asker,
) {
  const { rows } = await sql<{ kind: ReferenceKind; value: string }>`
    select split_part(ref, ':', 1) as kind, substr(ref, strpos(ref, ':') + 1) as value
      from core.transaction t cross join lateral unnest(t.refs) ref
     where t.id = ${payment} and split_part(ref, ':', 1) = any(${kinds})
     order by ref`.execute(trx)
  for (const one of rows)
    await putReference(
      trx,
      { ...one, gateway: gateway as 'gateway_a', external_loan_id: loan },
      asker,
    )
}
