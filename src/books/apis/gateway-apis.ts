import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import { openGatewayA } from './gateway-a-api.ts'
import type { Fetched, GatewayApi } from './gateway-api.ts'
import { openGatewayB } from './gateway-b-api.ts'
import type { Follower, Patience } from './gateway-call.ts'

type Open = {
  account: GatewayAccount
  /** The version of gateway B's API. */
  version: string
  follower: Follower
  patience?: Patience
}

type GatewayClient = {
  open(options: Open): GatewayApi
  /** What was fetched, in the shape that the gateway's SQL function reads. */
  body(fetched: Fetched): object
}

const CLIENTS: Partial<Record<string, GatewayClient>> = {
  gateway_a: {
    open: ({ account: { url, key, secret }, follower, patience }) =>
      openGatewayA(url, key, secret, follower, patience),
    body: ({ kind, item, order, payment }) => ({
      event: 'loanops.backfill',
      payload: {
        ...(payment === undefined ? {} : { payment: { entity: payment } }),
        [kind]: { entity: item },
        ...(order === undefined ? {} : { order: { entity: order } }),
      },
    }),
  },
  gateway_b: {
    open: ({ account: { url, key, secret }, version, follower, patience }) =>
      openGatewayB(url, { key, secret, version }, follower, patience),
    body: ({ item, order }) => ({
      type: 'LOANOPS_BACKFILL',
      data: item,
      ...(order === undefined ? {} : { order }),
    }),
  },
}

export const hasClient = (gateway: string): boolean => CLIENTS[gateway] !== undefined

export function clientOf(gateway: string): GatewayClient {
  const client = CLIENTS[gateway]
  if (client === undefined) throw new Error(`there is no client for the API of ${gateway}`)
  return client
}
