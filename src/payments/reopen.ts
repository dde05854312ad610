import { sql } from 'kysely'
import type { Trx } from '../database/database.ts'
import type { PaymentStanding } from './locked-payment.ts'
import { settle } from './settle.ts'

/** Back to suspense, from where only an operator takes it: nothing that was decided over is posted by itself. */
export async function reopen(trx: Trx, payment: PaymentStanding): Promise<void> {
  const { rows } = await sql<{ reason: string | null }>`
    with before as (select id, decided_over from core.transaction where id = ${payment.id})
    update core.transaction t
       set decision = null, decided_amount = null, decided_day = null, ledger_transaction_id = null, decided_over = null,
           assigned_loan_id = case when t.decided_over is null then t.assigned_loan_id else t.decided_over ->> 'assigned_loan_id' end,
           refused_reason = t.decided_over ->> 'refused_reason', next_try_at = null
      from before
     where t.id = before.id
    returning before.decided_over ->> 'reason' as reason`.execute(trx)
  await settle(trx, [payment])
  await sql`
    update core.transaction set refused_reason = ${rows[0]?.reason ?? 'awaiting_review'}
     where id = ${payment.id} and kind = 'payment' and state = 'waiting' and unconfirmed is null`.execute(
    trx,
  )
  await settle(trx, [payment])
}
