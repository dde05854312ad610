import { createHmac } from 'node:crypto'
import { type GatewayPayment, type GatewayStore, rupees } from './gateway-store.ts'

/** Twice as long as a gateway waits: the service on this machine may be busy. */
const ANSWERS_WITHIN_MS = 10_000

type WebhookOrder = {
  gateway: 'gateway_a' | 'gateway_b'
  id: string
  /** The service's webhook, with its `?lender=`. */
  url: string
  secret?: string
}

export async function sendWebhook(store: GatewayStore, { gateway, id, url, secret }: WebhookOrder) {
  const payment = store.payment(gateway, id)
  if (payment === undefined) return { status: 404 }
  const body = gateway === 'gateway_a' ? capturedA(payment) : successB(payment)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signed(gateway, body, secret) },
    body,
    signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
  })
  await response.text()
  return { status: response.status }
}

function signed(gateway: string, body: string, secret: string | undefined): Record<string, string> {
  if (secret === undefined) return {}
  if (gateway === 'gateway_a')
    return { 'x-gatewaya-signature': createHmac('sha256', secret).update(body).digest('hex') }
  const timestamp = String(Date.now())
  const signature = createHmac('sha256', secret)
    .update(timestamp + body)
    .digest('base64')
  return { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature }
}

function capturedA(payment: GatewayPayment): string {
  const created_at = Math.floor(payment.createdAt.getTime() / 1_000)
  const entity = {
    id: payment.id,
    entity: 'payment',
    amount: Number(payment.amount),
    currency: payment.currency,
    status: 'captured',
    order_id: payment.orderId,
    captured: true,
    notes: { ...payment.orderNotes, ...payment.notes },
    created_at,
  }
  return JSON.stringify({
    entity: 'event',
    event: 'payment.captured',
    contains: ['payment'],
    payload: { payment: { entity } },
    created_at,
  })
}

function successB(payment: GatewayPayment): string {
  const time = payment.createdAt.toISOString()
  const tags = JSON.stringify({ ...payment.orderNotes, ...payment.notes })
  return `{"data":{"order":{"order_id":${JSON.stringify(payment.orderId)},"order_amount":${rupees(payment.amount)},"order_currency":"${payment.currency}","order_tags":${tags}},"payment":{"cf_payment_id":${JSON.stringify(payment.id)},"payment_status":"SUCCESS","payment_amount":${rupees(payment.amount)},"payment_currency":"${payment.currency}","payment_time":"${time}"}},"event_time":"${time}","type":"PAYMENT_SUCCESS_WEBHOOK"}`
}
