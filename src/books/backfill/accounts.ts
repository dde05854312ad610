import type { Config } from '../../config/config.ts'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import type { Trace } from '../../ops/traces.ts'
import { openGatewayA } from '../apis/gateway-a-api.ts'
import type { GatewayApi } from '../apis/gateway-api.ts'
import { openGatewayB } from '../apis/gateway-b-api.ts'
import type { Patience } from '../apis/gateway-call.ts'

type Accounts = Pick<Config, 'gatewayAccounts'>

/** The account's name in our tables: the lender whose own it is, or nothing. */
export const nameOf = ({ lender }: GatewayAccount): string => lender ?? ''

/** The account that serves a lender: its own, or the gateway's. Undefined where there are no credentials. */
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
  trace: Trace,
  patience?: Patience,
): GatewayApi {
  return gateway === 'gateway_a'
    ? openGatewayA(url, key, secret, trace, patience)
    : openGatewayB(url, { key, secret, version }, trace, patience)
}
