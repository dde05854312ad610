import { sql } from 'kysely'
import type { Lender } from '../../config/lenders.ts'
import type { Fetched } from '../../payments/gateways/gateway-api.ts'
import { lenderOf } from '../../payments/intake/lender-of.ts'
import { GATEWAY_API, type PaymentEvent } from '../../payments/payment-event.ts'
import type { ReadGateway } from '../apis/open-gateway-api.ts'
import { type Fetch, isForWholeAccount } from './fetch.ts'

type Source = { gateway: ReadGateway; lenders: ReadonlyMap<string, Lender> }

/** @param lender null if the fetched item itself names its lender */
export function fetchedEvent(source: Source, lender: string | null, fetched: Fetched) {
  const { gateway } = source
  const body = gateway.client.body(fetched)
  return eventOfApi(gateway, lender ?? lenderInNotes(source, fetched), 'loanops.backfill', body)
}

export function eventOfApi(
  { name: gateway }: ReadGateway,
  lender: string,
  eventType: string,
  body: object,
): PaymentEvent {
  return {
    gateway,
    lender,
    receivedAt: new Date().toISOString(),
    // Without an event id, an equal body counts as a repeat.
    eventId: null,
    eventType,
    body: Buffer.from(JSON.stringify(body)).toString('base64'),
    headers: {},
    address: null,
    verifiedBy: GATEWAY_API,
  }
}

export function lenderInNotes({ gateway, lenders }: Source, fetched: Fetched): string {
  const inNotes = gateway.lenders(gateway.client.body(fetched))
  return lenderOf(lenders, gateway.name, { inUrl: [], accounts: [], inNotes })
}

/** The events, each with the lender of the payment that it is about, if that is known here. */
export async function withKnownLenders(fetch: Fetch, events: PaymentEvent[]) {
  if (events.length === 0 || isForWholeAccount(fetch)) return events
  const { gateway } = fetch.account
  const bodies = events.map(({ body }) => body)
  const { rows } = await sql<{ place: string; lender: string }>`
    select distinct on (b.place) b.place, t.lender
      from unnest(${bodies}::text[]) with ordinality b (body, place)
     cross join lateral ${sql.id('base', gateway)}(decode(b.body, 'base64')) f
      join core.transaction t
        on t.gateway_payment_id = coalesce(f.of_payment_id, f.payment_id) and t.gateway = ${gateway} and t.kind = 'payment'
     -- This account proves nothing for a lender that has its own.
     where t.lender <> 'UNKNOWN'
       and not core.has_account(t.gateway, t.lender)
       and not core.is_unproved_to_lender(t)
     order by b.place`.execute(fetch.db)
  const lenders = new Map(rows.map(({ place, lender }) => [Number(place) - 1, lender]))
  return events.map((event, at) => ({ ...event, lender: lenders.get(at) ?? event.lender }))
}
