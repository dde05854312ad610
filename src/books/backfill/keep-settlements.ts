import { sql } from 'kysely'
import type { ApiSettlement } from '../apis/gateway-api.ts'
import { fence } from './claim-backfill.ts'
import type { Fetch } from './keep-page.ts'

/** Adds to the statement how its payments were settled. */
export async function keepSettlements(
  { db, account, claim }: Fetch,
  settlements: ApiSettlement[],
): Promise<void> {
  // The last one of each: a row may come twice.
  const said = [...new Map(settlements.map(one => [one.paymentId, one])).values()]
  if (said.length === 0) return
  await db.transaction().execute(async trx => {
    await fence(trx, claim)
    await sql`
      update core.statement s
         set settlement_id = n."settlementId", settled_at = coalesce(n."settledAt", s.settled_at),
             utr = coalesce(n.utr, s.utr), fee = n.fee, tax = n.tax
        from jsonb_to_recordset(${JSON.stringify(said)}::jsonb) as n ("paymentId" text, "settlementId" text,
               "settledAt" timestamptz, utr text, fee numeric, tax numeric)
       where s.gateway_payment_id = n."paymentId" and s.gateway = ${account.gateway}`.execute(trx)
  })
}
