import { createHmac, timingSafeEqual } from 'node:crypto'
import type { GatewayRules } from '../gateway.ts'
import { at, isObject } from '../items/exact-json.ts'

const SIGNATURE = 'x-webhook-signature'
const TIME = 'x-webhook-timestamp'
/** Without a timestamp, a signature would cover the body alone, as gateway A's does: if both share a secret, A's would pass here. */
const TIME_FORM = /^\S+$/
const EVENT_ID = 'x-idempotency-key'
const isFlatType = (type: unknown) => typeof type === 'string' && /^[A-Z_]+$/.test(type)

/** The rules are those of Cashfree: a base64 HMAC of the timestamp followed directly by the raw body. */
export function rulesOfB(): GatewayRules {
  return {
    path: '/webhooks/gateway_b',
    headers: {
      [SIGNATURE]: 'HMAC-SHA256 of the timestamp and the raw body, in base64',
      [TIME]: 'the timestamp of the signature',
      [EVENT_ID]: 'the event’s id',
    },
    signedBy: [
      {
        header: SIGNATURE,
        form: /^[\w+/=-]{43,44}$/,
        holds: 'a signature of 44 characters in base64',
      },
      { header: TIME, form: TIME_FORM, holds: 'the timestamp' },
    ],
    // The events of old virtual accounts and old mandates are flat, and name their type `event` and `cf_event`.
    eventType: event => event.type ?? event.event ?? event.cf_event,
    isOwn: ({ type, data, event, cf_event, payload }) =>
      // A relay's wrapper may have the same form, with the event as its data.
      (typeof type === 'string' && isObject(data) && !isObject(data.data ?? data.payload)) ||
      // Gateway A's names are in small letters; a relay may have flattened its payload.
      (isFlatType(event ?? cf_event) && payload === undefined),
    eventId: headers => headers[EVENT_ID] ?? headers['x-idempotency-header'],
    accounts: event => [at(event, 'data.merchant.merchant_id'), at(event, 'data.merchant_id')],
    lenders: event => [
      at(event, 'data.order.order_tags.lender'),
      at(event, 'data.link_notes.lender'),
      at(event, 'data.subscription_details.subscription_tags.lender'),
      // The places in a fetched item.
      at(event, 'data.order_details.order_tags.lender'),
      at(event, 'data.order_tags.lender'),
      at(event, 'order.order_tags.lender'),
    ],
    isSigned(secret, body, headers) {
      const time = String(headers[TIME] ?? '')
      const wanted = createHmac('sha256', secret).update(time).update(body).digest()
      const given = headers[SIGNATURE]
      const bytes = Buffer.from(typeof given === 'string' ? given : '', 'base64')
      const isWhole = bytes.length === wanted.length && TIME_FORM.test(time)
      return timingSafeEqual(wanted, isWhole ? bytes : Buffer.alloc(wanted.length)) && isWhole
    },
  }
}
