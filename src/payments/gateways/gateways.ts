import type { Gateway } from './gateway.ts'
import { gatewayA } from './gateway-a/gateway-a.ts'
import { gatewayB } from './gateway-b/gateway-b.ts'

export const gateways = [gatewayA, gatewayB] as const satisfies readonly Gateway[]

export type GatewayName = (typeof gateways)[number]['name']
export const GATEWAYS = gateways.map(({ name }) => name)

/** What is wrong with a payment's id that another gateway or a bank gave; undefined for any other id. */
export const foreignId = (gateway: string, id: string): string | undefined =>
  (gateways as readonly Gateway[]).find(({ name }) => name === gateway)?.foreignIds?.test(id)
    ? `has the form of another gateway’s id or of a bank’s reference: enter the id that ${gateway} gave the payment, or correct the gateway`
    : undefined
