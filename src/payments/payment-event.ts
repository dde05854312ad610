import type { Gateway } from './gateways/gateways.ts'

/** For events that name no configured lender. */
export const UNKNOWN = 'UNKNOWN'
/** `verifiedBy` of what was fetched from the gateway itself. */
export const GATEWAY_API = 'gateway_api'

/** One webhook call, or what was fetched in its place. */
export type PaymentEvent = {
  gateway: Gateway
  /** A configured lender's code, or UNKNOWN. */
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
