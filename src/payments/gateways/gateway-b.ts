import { createHmac, timingSafeEqual } from 'node:crypto'
import { type GatewayRules, member } from './gateway.ts'

/** Cashfree's way: a base64 HMAC of the time stamp followed by the raw body, with nothing between. */
export function gatewayB(): GatewayRules {
  return {
    name: 'gateway_b',
    path: '/webhooks/gateway_b',
    summary: 'Takes an event of gateway B',
    eventType: event => event.type,
    eventId: headers => headers['x-idempotency-key'] ?? headers['x-idempotency-header'],
    accounts: event => [
      member(event, 'data', 'merchant', 'merchant_id'),
      member(event, 'data', 'merchant_id'),
    ],
    lenders: event => [
      member(event, 'data', 'order', 'order_tags', 'lender'),
      member(event, 'data', 'link_notes', 'lender'),
    ],
    isSigned(secret, body, headers) {
      const time = headers['x-webhook-timestamp']
      const wanted = createHmac('sha256', secret)
        .update(typeof time === 'string' ? time : '')
        .update(body)
        .digest()
      const given = headers['x-webhook-signature']
      const bytes = Buffer.from(typeof given === 'string' ? given : '', 'base64')
      const isWhole = bytes.length === wanted.length && typeof time === 'string'
      return timingSafeEqual(wanted, isWhole ? bytes : Buffer.alloc(wanted.length)) && isWhole
    },
  }
}
