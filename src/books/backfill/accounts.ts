import type { Config } from '../../config/config.ts'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import { openGatewayA } from '../apis/gateway-a-api.ts'
import type { GatewayApi } from '../apis/gateway-api.ts'
import { openGatewayB } from '../apis/gateway-b-api.ts'
import type { Follower, Patience } from '../apis/gateway-call.ts'

type Accounts = Pick<Config, 'gatewayAccounts'>

/** Empty for the gateway's own account. */
export const nameOf = ({ lender }: GatewayAccount): string => lender ?? ''

export function accountFor(
  { gatewayAccounts }: Accounts,
  gateway: string,
  lender: string | null,
): GatewayAccount | undefined {
  const ofGateway = gatewayAccounts.filter(account => account.gateway === gateway)
  return (
    ofGateway.find(account => account.lender === lender) ??
    ofGateway.find(account => account.lender === null)
  )
}

export function openAccount(
  { gateway, url, key, secret }: GatewayAccount,
  version: string,
  follower: Follower,
  patience?: Patience,
): GatewayApi {
  return gateway === 'gateway_a'
    ? openGatewayA(url, key, secret, follower, patience)
    : openGatewayB(url, { key, secret, version }, follower, patience)
}
