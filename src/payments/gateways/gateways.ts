import type { Gateway } from './gateway.ts'
import { gatewayA } from './gateway-a/gateway-a.ts'
import { gatewayB } from './gateway-b/gateway-b.ts'

export const gateways = [gatewayA, gatewayB] as const satisfies readonly Gateway[]

export type GatewayName = (typeof gateways)[number]['name']
export const GATEWAYS = gateways.map(({ name }) => name)
