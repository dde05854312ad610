import type { Lender } from '../../config/lenders.ts'
import type { Fetched } from '../../payments/gateways/gateway-api.ts'
import { lenderOf } from '../../payments/intake/lender-of.ts'
import { GATEWAY_API, type PaymentEvent } from '../../payments/payment-event.ts'
import type { ReadGateway } from '../apis/open-api.ts'

type Source = { gateway: ReadGateway; lenders: ReadonlyMap<string, Lender> }

/** @param lender null if the fetched item itself names its lender */
export function fetchedEvent(
  source: Source,
  lender: string | null,
  fetched: Fetched,
): PaymentEvent {
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
