import type { Gateway } from '../gateway.ts'
import { readsOfB } from './api.ts'
import { gatewayBEvents, gatewayBSummary } from './reports.ts'
import { rulesOfB } from './webhook-rules.ts'

export const gatewayB = {
  name: 'gateway_b',
  title: 'gateway B',
  rules: rulesOfB,
  client: {
    isQueriedByOrder: true,
    headers: ({ key, secret }, { GATEWAY_B_API_VERSION }) => ({
      'x-client-id': key,
      'x-client-secret': secret,
      'x-api-version': String(GATEWAY_B_API_VERSION),
    }),
    reads: readsOfB,
    body: ({ item, order }) => ({
      type: 'LOANOPS_BACKFILL',
      data: item,
      ...(order === undefined ? {} : { order }),
    }),
  },
  reports: [gatewayBEvents, gatewayBSummary],
} as const satisfies Gateway
