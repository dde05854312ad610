import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import type { Window } from '../../payments/gateways/gateway-api.ts'
import { lockSettling } from '../../payments/lock-settling.ts'

/** Gives the payments of these times their settlements: an earlier fetch, of later times, may have listed those first. */
export async function settleStatements(trx: Trx, gateway: string, { from, to }: Window) {
  await lockSettling(trx)
  const { rows } = await sql<{ id: string }>`
    select gateway_payment_id as id from core.statement
     where captured_at >= ${from} and captured_at <= ${to} and gateway = ${gateway} and settlement_id is null
       and source = 'api'`.execute(trx)
  if (rows.length === 0) return
  await sql`
    with settled as materialized (
      select distinct on (id) *
        from core.settlement_row
       -- A join would compare each with each. No settlement is older than its payments.
       where id = any(${rows.map(({ id }) => id)}::text[]) and gateway = ${gateway} and kind = 'payment'
         and settled_at >= ${from} and statement_id is null
       order by id, settled_at desc
    )
    update core.statement s
       set settlement_id = r.settlement_id, settled_at = r.settled_at, utr = r.utr, fee = r.fee, tax = r.tax
      from settled r
     where s.gateway_payment_id = r.id and s.gateway = ${gateway}`.execute(trx)
}
