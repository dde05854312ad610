import { Type } from '@sinclair/typebox'
import type { Gateway } from '../payments/gateways/gateway.ts'
import { gateways as allGateways } from '../payments/gateways/gateways.ts'
import { checkSettings, lendersOf } from './config.ts'
import type { SharedSecrets } from './lenders.ts'
import { trimmedEnv } from './settings/setting-formats.ts'
import { Settings } from './settings/settings.ts'

const NOT_READ = 'not read'
const LEDGER = Type.Pick(Settings, [
  'LEDGER_URL',
  'LEDGER_TENANT',
  'LEDGER_USERNAME',
  'LEDGER_PASSWORD',
  'LEDGER_CA_FILE',
  'LEDGER_TIMEOUT_MS',
  'LEDGER_CONCURRENCY',
  'LEDGER_TIMEZONE',
  'LEDGER_OFFICE_ID',
  'LEDGER_PAYMENT_TYPE',
])

/** The ledger's settings alone, for a check on a machine that need not have the secrets of the gateways. */
export function readLedgerSettings(env: NodeJS.ProcessEnv) {
  const name = (gateway: Gateway) => gateway.name as SharedSecrets['name']
  const gateways = allGateways.map(one => ({ name: name(one), secrets: [NOT_READ] }))
  const secrets = { secretsIn: () => [NOT_READ], valueIn: () => NOT_READ }
  return {
    settings: checkSettings(LEDGER, env),
    lenders: lendersOf(trimmedEnv(env), gateways, secrets),
  }
}
