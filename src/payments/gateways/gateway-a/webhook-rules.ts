import { createHmac, timingSafeEqual } from 'node:crypto'
import type { GatewayRules } from '../gateway.ts'
import { at, isObject } from '../items/exact-json.ts'

type Settings = { GATEWAY_A_SIGNATURE_HEADER: string; GATEWAY_A_EVENT_ID_HEADER: string }

/** An event has at most five parts; a stranger's may have as many as fit into a megabyte. */
const MAX_PARTS = 20

const HEX = /^[0-9a-f]{64}$/i

/** The rules are those of Razorpay: a hex HMAC of the raw body, and an event id that is only in a header. */
export function rulesOfA(settings: Settings): GatewayRules {
  const signatureHeader = settings.GATEWAY_A_SIGNATURE_HEADER.toLowerCase()
  const eventIdHeader = settings.GATEWAY_A_EVENT_ID_HEADER.toLowerCase()
  return {
    path: '/webhooks/gateway_a',
    headers: {
      [settings.GATEWAY_A_SIGNATURE_HEADER]: 'HMAC-SHA256 of the raw body, in hex',
      [settings.GATEWAY_A_EVENT_ID_HEADER]: 'the event’s id',
    },
    signedBy: [
      {
        header: settings.GATEWAY_A_SIGNATURE_HEADER,
        form: HEX,
        holds: 'a signature of 64 hexadecimal digits',
      },
    ],
    eventType: event => event.event,
    isOwn: event => typeof event.event === 'string' && isObject(event.payload),
    eventId: headers => headers[eventIdHeader],
    accounts: event => [event.account_id],
    lenders: event => partsOf(event.payload).map(part => at(part, 'entity.notes.lender')),
    isSigned(secret, body, headers) {
      const wanted = createHmac('sha256', secret).update(body).digest()
      const given = headers[signatureHeader]
      const isHex = typeof given === 'string' && HEX.test(given)
      return timingSafeEqual(wanted, isHex ? Buffer.from(given, 'hex') : Buffer.alloc(32)) && isHex
    },
  }
}

function partsOf(payload: unknown): unknown[] {
  if (!isObject(payload)) return []
  return Object.keys(payload)
    .slice(0, MAX_PARTS)
    .map(name => payload[name])
}
