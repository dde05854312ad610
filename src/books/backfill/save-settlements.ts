import { sql } from 'kysely'
import type { SettlementPage } from '../../payments/gateways/gateway-api.ts'
import { lockSettling } from '../../payments/lock-settling.ts'
import { forgetFormerParts } from '../settlements/forget-former-parts.ts'
import { fence } from './claim-backfill.ts'
import type { Fetch } from './fetch.ts'
import { saveUnreadable } from './save-unreadable.ts'

export async function saveSettlements(
  fetch: Fetch,
  { settlements, unreadable }: SettlementPage,
): Promise<void> {
  const { db, account, claim } = fetch
  // A row may be listed twice: only the last copy of each is saved.
  const said = [
    ...new Map(
      settlements.map(one => [JSON.stringify([one.settlementId, one.kind, one.id]), one]),
    ).values(),
  ]
  if (said.length === 0 && unreadable.length === 0) return
  // An account of several lenders lists the settlements of all of them, whichever is asked for.
  const lender = claim.lender === account.lender ? claim.lender : null
  await db.transaction().execute(async trx => {
    await fence(trx, claim)
    // An upload writes the same rows under this lock, in another order.
    await lockSettling(trx)
    await saveUnreadable(trx, fetch, unreadable)
    await forgetFormerParts(trx, account.gateway, said)
    await sql`
      insert into core.settlement_row (gateway, settlement_id, kind, id, payment_id, lender, settled_at, utr, amount, fee, tax, paid_out)
      select ${account.gateway}, n."settlementId", n.kind, n.id, n."paymentId", ${lender}, n."settledAt", n.utr, n.amount,
             n.fee, n.tax, n."paidOut"
        from jsonb_to_recordset(${JSON.stringify(said)}::jsonb) as n (kind text, id text, "paymentId" text, "settlementId" text,
               "settledAt" timestamptz, utr text, amount numeric, fee numeric, tax numeric, "paidOut" numeric)
      on conflict (settlement_id, gateway, kind, id) do update
         set lender = excluded.lender, settled_at = excluded.settled_at, utr = excluded.utr, amount = excluded.amount,
             fee = excluded.fee, tax = excluded.tax, paid_out = excluded.paid_out, statement_id = null`.execute(
      trx,
    )
    await sql`
      update core.statement s
         set settlement_id = n."settlementId", settled_at = coalesce(n."settledAt", s.settled_at),
             utr = coalesce(n.utr, s.utr), fee = n.fee, tax = n.tax,
             settled_by = case when num_nulls(n."settledAt", n.utr) = 0 then '{}' else s.settled_by end
        from jsonb_to_recordset(${JSON.stringify(said)}::jsonb) as n (kind text, id text, "settlementId" text,
               "settledAt" timestamptz, utr text, fee numeric, tax numeric)
       where n.kind = 'payment' and s.gateway_payment_id = n.id and s.gateway = ${account.gateway}`.execute(
      trx,
    )
  })
}
