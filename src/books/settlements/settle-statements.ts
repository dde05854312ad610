import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import type { Window } from '../../payments/gateways/gateway-api.ts'
import { lockSettling } from '../../payments/lock-settling.ts'

/** Tells the payments of these times their settlements, which an earlier fetch, of later times, may have listed before them. */
export async function settleStatements(trx: Trx, gateway: string, { from, to }: Window) {
  await lockSettling(trx)
  await sql`
    with settled as (
      select distinct on (r.id) r.*
        from core.statement s
        join core.settlement_row r
          -- No index has the payments. No settlement is older than its payments.
          on r.id = s.gateway_payment_id and r.gateway = s.gateway and r.kind = 'payment' and r.settled_at >= ${from}
       where s.captured_at >= ${from} and s.captured_at <= ${to} and s.gateway = ${gateway} and s.settlement_id is null
         and s.source = 'api' and r.statement_id is null
       order by r.id, r.settled_at desc
    )
    update core.statement s
       set settlement_id = r.settlement_id, settled_at = r.settled_at, utr = r.utr, fee = r.fee, tax = r.tax
      from settled r
     where s.gateway_payment_id = r.id and s.gateway = r.gateway`.execute(trx)
}
