import type { Lender } from '../../config/lenders.ts'
import type { Fetched } from '../../payments/gateways/gateway-api.ts'
import { lenderOf } from '../../payments/intake/lender-of.ts'
import { GATEWAY_API, type PaymentEvent } from '../../payments/payment-event.ts'
import type { ReadGateway } from '../apis/open-api.ts'

export function fetchedEvent(gateway: ReadGateway, lender: string, fetched: Fetched): PaymentEvent {
  const body = gateway.client.body(fetched)
  return {
    gateway: gateway.name,
    lender,
    receivedAt: new Date().toISOString(),
    // Without an event id, an equal body counts as a repeat.
    eventId: null,
    eventType: 'loanops.backfill',
    body: Buffer.from(JSON.stringify(body)).toString('base64'),
    headers: {},
    address: null,
    verifiedBy: GATEWAY_API,
  }
}

export function lenderInNotes(
  lenders: ReadonlyMap<string, Lender>,
  { name, client, lenders: lendersIn }: ReadGateway,
  fetched: Fetched,
): string {
  const inNotes = lendersIn(client.body(fetched))
  return lenderOf(lenders, name, { inUrl: [], accounts: [], inNotes })
}
