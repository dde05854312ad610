import type { Lender } from '../../config/lenders.ts'
import type { Gateway } from '../../payments/gateways/gateways.ts'
import { lenderOf } from '../../payments/intake/lender-of.ts'
import { GATEWAY_API, type PaymentEvent } from '../../payments/payment-event.ts'
import { at } from '../apis/exact-json.ts'
import type { Fetched } from '../apis/gateway-api.ts'
import { clientOf } from '../apis/gateway-apis.ts'

export function fetchedEvent(gateway: Gateway, lender: string, fetched: Fetched): PaymentEvent {
  const body = clientOf(gateway).body(fetched)
  return {
    gateway,
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
  gateway: Gateway,
  { item, order }: Pick<Fetched, 'item' | 'order'>,
): string {
  const inNotes = [
    at(item, 'notes.lender'),
    at(order, 'notes.lender'),
    at(item, 'order_details.order_tags.lender'),
    at(item, 'order_tags.lender'),
    at(order, 'order_tags.lender'),
  ]
  return lenderOf(lenders, gateway, { inUrl: [], accounts: [], inNotes })
}
