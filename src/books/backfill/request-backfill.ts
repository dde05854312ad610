import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import type { Trx } from '../../database/database.ts'
import { newId } from '../../ids.ts'
import { insertJobs } from '../../queue/queue.ts'
import { nameOf } from './accounts.ts'
import { backfillQueue } from './queue.ts'

/** Payments made while a fetch runs, or not yet visible at the gateway, are left to the next fetch. */
const TRAILS_BY = '1 minute'
/** A gateway may show a payment only some time after it was made. */
const OVERLAP = '2 hours'
const FIRST_LOOK_BACK = '7 days'
/** A failed payment may be captured up to three days later, under its first date. */
export const LATE_CAPTURE_DAYS = 5

export async function requestBackfill(
  trx: Trx,
  boss: PgBoss,
  account: GatewayAccount,
  { from, to, lender }: { from: string; to: string; lender: string | null },
): Promise<string> {
  const id = newId()
  await sql`
    insert into core.backfill (id, trigger, gateway, account, lender, window_from, window_to, fetch_from, done_until)
    values (${id}, 'request', ${account.gateway}, ${nameOf(account)}, ${lender},
            ${from}, ${to}, ${from}, ${from})`.execute(trx)
  await insertJobs(boss, trx, backfillQueue, [{ data: {} }])
  return id
}

export async function requestScheduled(trx: Trx, accounts: GatewayAccount[]): Promise<void> {
  for (const account of accounts) {
    await sql`
      insert into core.backfill (id, trigger, gateway, account, lender, window_from, window_to, fetch_from, done_until)
      select ${newId()}, 'schedule', ${account.gateway}, ${nameOf(account)}, ${account.lender}, started, ended, begun, begun
        from (select now() - ${TRAILS_BY}::interval as ended) e
       cross join lateral (
         select max(window_to) as last_end
           from core.backfill
          where gateway = ${account.gateway} and account = ${nameOf(account)}
            and trigger = 'schedule' and status = 'completed') last
       cross join lateral (
         select least(coalesce(last_end - ${OVERLAP}::interval, ended - ${FIRST_LOOK_BACK}::interval),
                      -- A clock may have been ahead before.
                      ended - ${OVERLAP}::interval) as started) s
       cross join lateral (
         -- What the last fetch listed as failed may have been captured while nothing was fetched.
         select least(started, least(last_end, ended) - make_interval(days => ${LATE_CAPTURE_DAYS})) as begun) f
      on conflict do nothing`.execute(trx)
  }
}
