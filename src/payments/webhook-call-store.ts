import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Gateway } from './gateways/gateways.ts'

/** Of each gateway. */
export const KEPT_CALLS = 20

export type WebhookCall = {
  at: Date
  address: string | null
  status: number
  event_type: string | null
  lender: string
  /** Why it was refused; null if it was stored. */
  reason: string | null
}

/** Deletes what is no longer among the last. */
export async function saveCalls(db: Database, calls: (WebhookCall & { gateway: Gateway })[]) {
  await sql`
    insert into loanops.webhook_call (gateway, at, address, status, event_type, lender, reason)
    select gateway, at, address, status, event_type, lender, reason
      from json_populate_recordset(null::loanops.webhook_call, ${JSON.stringify(calls)})`.execute(
    db,
  )
  await sql`
    delete from loanops.webhook_call
     where id = any(array(
       select id from loanops.webhook_call
        where at < now() - interval '1 day'
           or id not in (select kept.id from (select distinct gateway from loanops.webhook_call) g
                          cross join lateral (select id from loanops.webhook_call c where c.gateway = g.gateway
                                               order by at desc limit ${KEPT_CALLS}) kept)
        order by id for update skip locked))`.execute(db)
}

/** The newest first. @param gateway null for those of all gateways */
export async function lastWebhookCalls(
  db: Database,
  gateway: Gateway | null,
): Promise<WebhookCall[]> {
  const { rows } = await sql<WebhookCall>`
    select at, host(address) as address, status, event_type, lender, reason from loanops.webhook_call
     where gateway = coalesce(${gateway}, gateway) and at > now() - interval '1 day'
     order by at desc limit ${KEPT_CALLS}`.execute(db)
  return rows
}
