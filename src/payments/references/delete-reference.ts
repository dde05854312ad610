import { sql } from 'kysely'
import type { Asker } from '../../accounts/audit.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/in-transaction.ts'
import { NotFound } from '../../http/problem.ts'
import { auditReference } from './audit-reference.ts'
import { lockReference } from './lock-references.ts'
import type { Period, ReferenceName } from './reference-record.ts'

/** Deletes a reference with all its periods. */
export function deleteReference(db: Database, name: ReferenceName, asker: Asker): Promise<void> {
  const { gateway, kind, value } = name
  return inTransaction(db, async trx => {
    await lockReference(trx, name)
    const { rows: periods } = await sql<Period>`
      with gone as (
        delete from core.reference where key = core.reference_key(${kind}, ${value}) and gateway = ${gateway}
        returning key, gateway, external_loan_id, valid_from, valid_until
      ), noted as (
        insert into core.changed_reference (gateway, key) select distinct gateway, key from gone
      )
      select external_loan_id, valid_from::text, valid_until::text from gone`.execute(trx)
    if (periods.length === 0) throw new NotFound(`No ${kind} ${value} of ${gateway} is registered`)
    for (const period of periods) await auditReference(trx, asker, 'delete', { ...name, ...period })
  })
}
