import type { Gateway } from './gateways/gateways.ts'

/** Where the lender of an event cannot be told. */
export const UNKNOWN = 'UNKNOWN'

/** One webhook call on its way into its raw table. */
export type PaymentEvent = {
  gateway: Gateway
  /** A configured lender's code, or UNKNOWN. */
  lender: string
  receivedAt: string
  eventId: string | null
  eventType: string | null
  /** The bytes as they came, in base64: a job is JSON. */
  body: string
  headers: Record<string, string>
  address: string | null
  verifiedBy: string | null
}
