import type { IncomingHttpHeaders } from 'node:http'

/** One gateway: what it is called, which checks its events get by default, and how its webhooks are read. */
export type Gateway = {
  /** As in paths, tables and settings: the events are read by the SQL function `base.<name>`. */
  name: string
  /** As shown to people. */
  title: string
  /**
   * The setting with the secrets of lenders that have none of their own. While it is set, signatures are validated unless
   * the lender's settings say otherwise; without such a setting they are not.
   */
  secretSetting?: string
  /** Whether its API finds a payment only together with its order. */
  isAskedByOrder?: boolean
  rules(settings: Settings): GatewayRules
}

/** How one gateway speaks, as far as the webhook has to know; its SQL function reads the rest. */
export type GatewayRules = {
  path: string
  /** The headers that are read, each with its content: for the contract, which requires none of them. */
  headers: Record<string, string>
  eventType(event: Fields): unknown
  eventId(headers: IncomingHttpHeaders): unknown
  /** The gateway's account ids that the event names. */
  accounts(event: Fields): unknown[]
  /** Lender codes in notes or tags. */
  lenders(event: Fields): unknown[]
  /** Whether the secret made this signature of exactly these bytes; in constant time. */
  isSigned(secret: string, body: Buffer, headers: IncomingHttpHeaders): boolean
}

type Settings = { readonly [name: string]: unknown }

/** JSON that may hold anything. */
export type Fields = { readonly [name: string]: unknown }

/** A member of a value that may not be an object. */
export function member(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Fields)[name]
        : undefined,
    value,
  )
}
