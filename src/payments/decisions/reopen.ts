import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import type { PaymentStanding } from '../locked-payment.ts'
import { settle } from '../settle.ts'

/**
 * Puts a payment back in suspense, from where only an operator takes it: the reason that it had before the decision is
 * saved as its refusal, so that no batch posts it. `decided_over` stays until an operator decides again.
 */
export async function reopen(trx: Trx, payment: PaymentStanding): Promise<void> {
  await sql`
    update core.transaction
       set decision = null, decided_amount = null, decided_day = null, ledger_transaction_id = null,
           decided_over = coalesce(decided_over, '{}'),
           assigned_loan_id = case when decided_over is null then assigned_loan_id else decided_over ->> 'assigned_loan_id' end,
           assigned_over = case when decided_over is null then assigned_over else nullif(decided_over -> 'assigned_over', 'null') end,
           refused_reason = coalesce(decided_over ->> 'refused_reason', case when kind = 'payment'
             then coalesce(decided_over ->> 'reason', 'awaiting_review') end),
           next_try_at = null
     where id = ${payment.id}`.execute(trx)
  await settle(trx, [payment])
}
