import type { IncomingHttpHeaders } from 'node:http'
import type { Gateway } from '../../lenders.ts'

/** How one gateway speaks, as far as the door has to know; the rest stands in its SQL function. */
export type GatewayRules = {
  name: Gateway
  path: string
  summary: string
  /** The headers that are read, each with what it holds: for the contract, which wants none of them. */
  headers: Record<string, string>
  eventType(event: Fields): unknown
  eventId(headers: IncomingHttpHeaders): unknown
  /** The gateway's account ids that the event names. */
  accounts(event: Fields): unknown[]
  /** Lender codes in notes or tags. */
  lenders(event: Fields): unknown[]
  /** Whether the secret made this signature of exactly these bytes; it takes as long where it did not. */
  isSigned(secret: string, body: Buffer, headers: IncomingHttpHeaders): boolean
}

/** JSON that may hold anything. */
export type Fields = { readonly [name: string]: unknown }

/** A member of what may be no object at all. */
export function member(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Fields)[name]
        : undefined,
    value,
  )
}
