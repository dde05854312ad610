import { sql } from 'kysely'
import type { Database, Row } from '../../database/database.ts'
import type { GatewayName } from '../gateways/gateways.ts'

/** How many calls are kept of each gateway, as the view `last_webhook_call` chooses them. */
export const KEPT_CALLS = 20

/** `reason` says why the call was refused; it is null if the call was stored. */
export type WebhookCall = { gateway: GatewayName } & Row<
  'loanops.webhook_call',
  'at' | 'address' | 'status' | 'event_type' | 'lender' | 'reason'
>

/** Saves calls, and deletes those that are not among the last any more. */
export async function saveCalls(db: Database, calls: WebhookCall[]) {
  await sql`
    insert into loanops.webhook_call (gateway, at, address, status, event_type, lender, reason)
    select gateway, at, address, status, event_type, lender, reason
      from json_populate_recordset(null::loanops.webhook_call,
             ${JSON.stringify(calls)})`.execute(db)
  await sql`
    delete from loanops.webhook_call
     where id = any(array(
       select id from loanops.webhook_call
        where id not in (select id from loanops.last_webhook_call)
        order by id for update skip locked))`.execute(db)
}

/** The last calls, the newest first. @param gateway null for those of all gateways */
export async function lastWebhookCalls(db: Database, gateway: GatewayName | null) {
  const { rows } = await sql<Omit<WebhookCall, 'gateway'>>`
    select at, host(address) as address, status, event_type, lender, reason
      from loanops.last_webhook_call
     where gateway = coalesce(${gateway}, gateway)
     order by at desc`.execute(db)
  return rows
}
