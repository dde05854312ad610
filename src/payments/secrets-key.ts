import type { Lender } from '../config/lenders.ts'
import type { GatewayName } from './gateways/gateways.ts'

/** A key that is equal for lenders that share their secrets for this gateway, in whatever order each lists them. */
export const secretsKey = (lender: Lender, gateway: GatewayName): string =>
  JSON.stringify(lender[gateway].secrets.toSorted())
