import type { Config } from '../../config/config.ts'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'

type Accounts = Pick<Config, 'gatewayAccounts'>

/** The account's name, empty for the gateway's own. */
export const nameOf = ({ lender }: GatewayAccount): string => lender ?? ''

export function accountFor({ gatewayAccounts }: Accounts, gateway: string, lender: string | null) {
  const ofGateway = gatewayAccounts.filter(account => account.gateway === gateway)
  return (
    ofGateway.find(account => account.lender === lender) ??
    ofGateway.find(account => account.lender === null)
  )
}
