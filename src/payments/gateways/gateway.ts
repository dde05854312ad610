import type { IncomingHttpHeaders } from 'node:http'

export type Gateway = {
  /** As in paths, tables and settings; the SQL function `base.<name>` reads its events. */
  name: string
  /** As shown to people. */
  title: string
  /**
   * Holds the secrets of lenders that have none of their own. While it is set, signatures are validated
   * unless a lender's settings say otherwise; without such a setting they are not.
   */
  secretSetting?: string
  /** Its API finds a payment only by its order. */
  isAskedByOrder?: boolean
  rules(settings: Settings): GatewayRules
}

/** What the webhook needs to know; the gateway's SQL function reads the rest. */
export type GatewayRules = {
  path: string
  /** For the contract: each header that is read, with a description. None is required. */
  headers: Record<string, string>
  eventType(event: PayloadFields): unknown
  eventId(headers: IncomingHttpHeaders): unknown
  /** The gateway's account ids that the event names. */
  accounts(event: PayloadFields): unknown[]
  /** Lender codes in notes or tags. */
  lenders(event: PayloadFields): unknown[]
  /** Compares in constant time. */
  isSigned(secret: string, body: Buffer, headers: IncomingHttpHeaders): boolean
}

type Settings = { readonly [name: string]: unknown }

/** Members of any JSON value. */
export type PayloadFields = { readonly [name: string]: unknown }

export function member(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as PayloadFields)[name]
        : undefined,
    value,
  )
}
