import type { GatewayName } from './gateways/gateways.ts'

export const UNKNOWN = 'UNKNOWN'
/** The `verifiedBy` of an event that was fetched from the gateway itself. */
export const GATEWAY_API = 'gateway_api'

export type PaymentEvent = {
  gateway: GatewayName
  lender: string
  receivedAt: string
  eventId: string | null
  eventType: string | null
  /** The bytes as received, in base64, because a job is JSON. */
  body: string
  headers: Record<string, string>
  address: string | null
  verifiedBy: string | null
}
