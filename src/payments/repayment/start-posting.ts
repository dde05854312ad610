import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Trx } from '../../database/database.ts'
import { insertOperations, type NewOperation } from '../../engine/accept.ts'

/** Starts these operations: the payment, refund or chargeback in the data of each is on its way to the ledger from now on. */
export async function startPosting(
  trx: Trx,
  boss: PgBoss,
  operations: NewOperation[],
  batch: string | null,
): Promise<void> {
  await insertOperations(trx, boss, 'payment', operations)
  const sent = operations.map(({ id, data }) => ({ id, transaction_id: data.transaction_id }))
  await sql`
    with sent as (
      select * from json_to_recordset(${JSON.stringify(sent)}) as o (id uuid, transaction_id uuid)
    ), noted as (
      insert into core.posting (transaction_id, operation_id) select transaction_id, id from sent
    )
    update core.transaction t
       set state = 'posting', reason = null, posted_at = null, operation_id = sent.id, batch_id = ${batch},
           refused_reason = null, is_stale = false
      from sent where t.id = sent.transaction_id`.execute(trx)
}
