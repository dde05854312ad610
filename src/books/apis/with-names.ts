import type { Fetched, FoundPayment, GatewayReads } from '../../payments/gateways/gateway-api.ts'

/** If the payment itself names no loan, its order or its virtual account may name one. */
export async function withNames(api: GatewayReads, payment: FoundPayment): Promise<Fetched> {
  const { item, hasTags, orderId } = payment
  if (hasTags) return { kind: 'payment', item }
  const order = orderId === null ? undefined : await api.order(orderId)
  const transfer = await api.transfer?.(payment)
  return { kind: 'payment', item, order, transfer }
}
