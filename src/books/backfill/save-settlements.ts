import { sql } from 'kysely'
import type { SettlementPage } from '../../payments/gateways/gateway-api.ts'
import { lockSettling } from '../../payments/lock-settling.ts'
import { lastParts } from '../last-parts.ts'
import { fence } from './claim-backfill.ts'
import { type Fetch, isForWholeAccount } from './fetch.ts'
import { saveUnreadable } from './save-unreadable.ts'

export async function saveSettlements(fetch: Fetch, { settlements, unreadable }: SettlementPage) {
  const { db, account, claim } = fetch
  const said = lastParts(settlements)
  if (said.length === 0 && unreadable.length === 0) return
  const rows = JSON.stringify(said)
  const lender = isForWholeAccount(fetch) ? claim.lender : null
  await db.transaction().execute(async trx => {
    await fence(trx, claim)
    // An upload writes the same rows under this lock, in another order.
    await lockSettling(trx)
    await saveUnreadable(trx, fetch, unreadable)
    await sql`
      select core.save_settlement_rows(
        ${account.gateway}, ${lender}, null, ${rows}::jsonb)`.execute(trx)
    await sql`
      update core.statement s
         set settlement_id = n.settlement_id, settled_at = coalesce(n.settled_at, s.settled_at),
             utr = coalesce(n.utr, s.utr), fee = n.fee, tax = n.tax,
             settled_by = case when num_nulls(n.settled_at, n.utr) = 0 then '{}' else s.settled_by end
        from jsonb_to_recordset(${rows}::jsonb) as n (kind text, id text, settlement_id text,
               settled_at timestamptz, utr text, fee numeric, tax numeric)
       where n.kind = 'payment' and s.gateway_payment_id = n.id and s.gateway = ${account.gateway}
         -- A fetch of earlier days may list what was paid out in a later settlement.
         and (s.settlement_id <> n.settlement_id and s.settled_at > n.settled_at
              and exists (select from core.settlement_row r
                           where r.settlement_id = s.settlement_id and r.gateway = s.gateway and r.kind = 'payment'
                             and r.id = n.id and r.statement_id is null)) is not true`.execute(trx)
  })
}
