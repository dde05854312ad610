import type { Config, OpenGateway } from '../../config/config.ts'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import type { Database } from '../../database/database.ts'
import type { Metrics } from '../../ops/metrics.ts'
import type { Trace } from '../../ops/traces/traces.ts'
import type { GatewayClient } from '../../payments/gateways/gateway.ts'
import type { GatewayApi } from '../../payments/gateways/gateway-api.ts'
import type { MajorUnits } from '../../payments/gateways/items/major-units.ts'
import { openGatewayCaller, type Patience } from './gateway-call.ts'

export type ReadGateway = OpenGateway & { client: GatewayClient }

/** The gateway of an account. It has a client: otherwise the settings of the account stop the start. */
export function gatewayOfAccount({ gateways }: Pick<Config, 'gateways'>, account: GatewayAccount) {
  return gateways.find(({ name }) => name === account.gateway) as ReadGateway
}

export type Inquiry = {
  db: Database
  api: GatewayApi
  account: GatewayAccount
  gateway: ReadGateway
  lenders: Config['lenders']
}

type ApiToOpen = {
  account: GatewayAccount
  majorUnits: MajorUnits
  trace?: Trace
  metrics?: Metrics
  patience?: Patience
}

/** Works with an account's API. Its calls are aborted when the process stops. */
export async function withGatewayApi<T>(
  config: Pick<Config, 'gateways' | 'proxy'>,
  open: ApiToOpen,
  stopping: AbortSignal,
  work: (api: GatewayApi) => Promise<T>,
): Promise<T> {
  const api = openGatewayApi(config, open)
  const close = () => void api.close()
  stopping.addEventListener('abort', close)
  try {
    return await work(api)
  } finally {
    stopping.removeEventListener('abort', close)
    await api.close()
  }
}

export function openGatewayApi(
  config: Pick<Config, 'gateways' | 'proxy'>,
  { account, majorUnits, trace, metrics, patience }: ApiToOpen,
): GatewayApi {
  const { client } = gatewayOfAccount(config, account)
  const headers = client.headers(account, config)
  const during = <T>(call: () => Promise<T>) =>
    metrics?.unanswered.during(account.gateway, call) ?? call()
  const follower = { trace, during }
  const { call, close } = openGatewayCaller(
    { url: account.url, headers, proxy: config.proxy },
    follower,
    patience,
  )
  return { ...client.reads(call, majorUnits), close }
}
