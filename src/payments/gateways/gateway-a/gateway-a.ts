import type { Gateway } from '../gateway.ts'
import { at, isObject } from '../items/exact-json.ts'
import { readsOfA } from './api.ts'
import { gatewayAPayments, gatewayASettlements } from './reports.ts'
import { rulesOfA } from './webhook-rules.ts'

/** A transfer has the same parts as in its webhook. */
function partsOfTransfer(transfer: unknown) {
  const name = at(transfer, 'entity')
  if (name !== 'bank_transfer' && name !== 'upi_transfer') return {}
  const account = at(transfer, 'virtual_account')
  return {
    [name]: { entity: transfer },
    ...(isObject(account) ? { virtual_account: { entity: account } } : {}),
  }
}

export const gatewayA = {
  name: 'gateway_a',
  title: 'gateway A',
  foreignIds: /^\d{9,}$/,
  secretSetting: 'GATEWAY_A_WEBHOOK_SECRET',
  settings: {
    GATEWAY_A_SIGNATURE_HEADER: {
      description: 'the header with gateway A’s signature',
      default: 'X-GatewayA-Signature',
      format: 'header-name',
    },
    GATEWAY_A_EVENT_ID_HEADER: {
      description: 'the header with gateway A’s event id',
      default: 'X-GatewayA-Event-Id',
      format: 'header-name',
    },
  },
  rules: rulesOfA,
  client: {
    exampleUrl: 'https://gateway-a.example.com/v1',
    headers: ({ key, secret }) => ({
      authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`,
    }),
    reads: readsOfA,
    body: ({ kind, item, order, transfer, payment }) => ({
      event: 'loanops.backfill',
      payload: {
        ...(payment === undefined ? {} : { payment: { entity: payment } }),
        [kind]: { entity: item },
        ...(order === undefined ? {} : { order: { entity: order } }),
        ...partsOfTransfer(transfer),
      },
    }),
  },
  reports: [gatewayASettlements, gatewayAPayments],
} as const satisfies Gateway
