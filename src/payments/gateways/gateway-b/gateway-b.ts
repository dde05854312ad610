import type { Gateway } from '../gateway.ts'
import { readsOfB } from './api.ts'
import { gatewayBEvents, gatewayBSummary } from './reports.ts'
import { rulesOfB } from './webhook-rules.ts'

export const gatewayB = {
  name: 'gateway_b',
  title: 'gateway B',
  foreignIds: /^pay_[A-Za-z0-9]{14}$/,
  settings: {
    GATEWAY_B_API_VERSION: {
      description: 'the version of gateway B’s API',
      default: '2026-01-01',
      pattern: '^20\\d\\d-\\d\\d-\\d\\d$',
    },
  },
  rules: rulesOfB,
  client: {
    exampleUrl: 'https://gateway-b.example.com/pg',
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
