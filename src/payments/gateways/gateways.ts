import type { Gateway as GatewayDefinition } from './gateway.ts'
import { gatewayA } from './gateway-a/gateway-a.ts'
import { gatewayB } from './gateway-b/gateway-b.ts'

export const gateways = [gatewayA, gatewayB] as const satisfies readonly GatewayDefinition[]

export type Gateway = (typeof gateways)[number]['name']
export const GATEWAYS = gateways.map(({ name }) => name)
