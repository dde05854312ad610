import type { IncomingHttpHeaders } from 'node:http'

export type Gateway = {
  /** The name in paths, tables and settings; the SQL function `base.<name>` reads the gateway's events. */
  name: string
  title: string
  /** While this setting is set, signatures are validated unless a lender's settings say otherwise. */
  secretSetting?: string
  /** The gateway's API finds a payment only by its order. */
  isQueriedByOrder?: boolean
  rules(settings: Settings): GatewayRules
}

export type GatewayRules = {
  path: string
  headers: Record<string, string>
  /** What a signature consists of. */
  signedBy: { header: string; form: RegExp; holds: string }[]
  eventType(event: PayloadFields): unknown
  eventId(headers: IncomingHttpHeaders): unknown
  accounts(event: PayloadFields): unknown[]
  lenders(event: PayloadFields): unknown[]
  isSigned(secret: string, body: Buffer, headers: IncomingHttpHeaders): boolean
}

type Settings = { readonly [name: string]: unknown }

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
