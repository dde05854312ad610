import type { IncomingHttpHeaders } from 'node:http'
import type { SchemaOptions } from '@sinclair/typebox'
import type { CallGateway, Fetched, GatewayReads } from './gateway-api.ts'
import type { MajorUnits } from './items/major-units.ts'
import type { Format } from './report-format.ts'

export type Gateway = {
  /**
   * The name in paths, tables and settings. The SQL function `base.<name>_facts` reads the gateway's
   * events, `base.<name>_status` what its items and reports say about the money.
   */
  name: string
  title: string
  /** Ids of a form that other gateways or banks give, and this gateway never does. */
  foreignIds?: RegExp
  /** While this setting is set, signatures are validated unless a lender's settings say otherwise. */
  secretSetting?: string
  /** The gateway's other settings, except those of its API, by their full names. */
  settings?: Record<string, GatewaySetting>
  rules(settings: Settings): GatewayRules
  /** Without a client, the gateway's API is not read. */
  client?: GatewayClient
  /** The gateway's own reports, besides our template. */
  reports?: readonly Format[]
}

/** A setting as `.env.example` has it: one without a default may be unset. */
type GatewaySetting = SchemaOptions & { description: string; example?: string; default?: string }

export type GatewayClient = {
  /** An example of the API's URL, whose last part every URL must end with. */
  exampleUrl: string
  /** The gateway's API finds a payment only by its order. */
  isQueriedByOrder?: boolean
  /** The headers that carry the credentials, with each call. */
  headers(account: { key: string; secret: string }, settings: Settings): Record<string, string>
  reads(call: CallGateway, majorUnits: MajorUnits): GatewayReads
  /** The fetched item, in the shape that `lenders` and the gateway's SQL function read. */
  body(fetched: Fetched): PayloadFields
}

export type GatewayRules = {
  path: string
  headers: Record<string, string>
  signedBy: { header: string; form: RegExp; holds: string }[]
  eventType(event: PayloadFields): unknown
  /** Whether an event has the gateway's form, whatever its type. */
  isOwn(event: PayloadFields): boolean
  eventId(headers: IncomingHttpHeaders): unknown
  accounts(event: PayloadFields): unknown[]
  lenders(event: PayloadFields): unknown[]
  isSigned(secret: string, body: Buffer, headers: IncomingHttpHeaders): boolean
}

type Settings = { readonly [name: string]: unknown }

export type PayloadFields = { readonly [name: string]: unknown }

export const API_PARTS = ['URL', 'KEY', 'SECRET'] as const
export type ApiPart = (typeof API_PARTS)[number]
/** The name of the setting with this part of the access to the gateway's API. */
export const apiSetting = (gateway: string, part: ApiPart): string =>
  `${gateway.toUpperCase()}_API_${part}`
