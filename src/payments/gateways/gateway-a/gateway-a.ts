import type { Gateway } from '../gateway.ts'
import { readsOfA } from './api.ts'
import { gatewayAPayments, gatewayASettlements } from './reports.ts'
import { rulesOfA } from './webhook-rules.ts'

export const gatewayA = {
  name: 'gateway_a',
  title: 'gateway A',
  secretSetting: 'GATEWAY_A_WEBHOOK_SECRET',
  rules: rulesOfA,
  client: {
    headers: ({ key, secret }) => ({
      authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`,
    }),
    reads: readsOfA,
    body: ({ kind, item, order, payment }) => ({
      event: 'loanops.backfill',
      payload: {
        ...(payment === undefined ? {} : { payment: { entity: payment } }),
        [kind]: { entity: item },
        ...(order === undefined ? {} : { order: { entity: order } }),
      },
    }),
  },
  reports: [gatewayASettlements, gatewayAPayments],
} as const satisfies Gateway
