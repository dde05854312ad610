import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { internalTokens } from '../config/secrets.ts'
import { Settings } from '../config/settings.ts'
import { startSandboxGateways } from '../sandbox/gateways/gateway-server.ts'
import { gatewaySettings } from '../sandbox/gateways/gateway-settings.ts'
import { startSandbox } from '../sandbox/server.ts'
import { freePort } from './free-port.ts'
import { ordinaryUser } from './ordinary-user.ts'
import { startPostgres } from './postgres.ts'
import { PRIVATE_FILE, privateFolder } from './private-folder.ts'
import { type Secrets, secretsIn } from './secrets.ts'
import { takeFolder } from './take-folder.ts'

const DATA_FOLDER = '.data'

type Embedded = { env: NodeJS.ProcessEnv; close(): Promise<void> }

/** Missing secrets are generated and kept for the next start. */
export async function startEmbedded(env: NodeJS.ProcessEnv): Promise<Embedded> {
  const folder = resolve(DATA_FOLDER)
  privateFolder(folder, ordinaryUser())
  const settings: NodeJS.ProcessEnv & Secrets = {
    ...secretsIn(folder),
    PORT: await portFor(env),
    LOG_LEVEL: 'warn',
    ...present(env),
  }
  const opened: { close(): Promise<void> }[] = []
  if (!settings.DATABASE_URL || !settings.LEDGER_URL)
    opened.push(takeFolder(resolve(folder, 'loanops.pid')))
  if (!settings.DATABASE_URL) {
    const postgres = await startPostgres({
      folder: resolve(folder, 'postgres'),
      password: settings.POSTGRES_PASSWORD,
    })
    opened.push(postgres)
    settings.DATABASE_URL = postgres.url
  }
  if (!settings.LEDGER_URL) {
    const sandbox = await startSandbox({
      port: 0,
      booksFile: resolve(folder, 'ledger-books.jsonl'),
    })
    opened.push(sandbox)
    Object.assign(settings, {
      LEDGER_URL: sandbox.url,
      LEDGER_USERNAME: 'mifos',
      LEDGER_PASSWORD: 'password',
    })
  }
  if (!GATEWAY_SETTINGS.some(name => name in settings)) {
    const gateways = await startSandboxGateways({ port: 0 })
    opened.push(gateways)
    Object.assign(settings, gatewaySettings(gateways))
  }
  // For the examples in the README, which read them from these files.
  const token = internalTokens(settings.INTERNAL_TOKEN)[0]?.token ?? ''
  writeFileSync(resolve(folder, 'internal-token'), token, { mode: PRIVATE_FILE })
  writeFileSync(resolve(folder, 'database-url'), settings.DATABASE_URL, { mode: PRIVATE_FILE })
  return {
    env: settings,
    async close() {
      for (const one of opened.reverse()) await one.close()
    },
  }
}

const GATEWAY_SETTINGS = [
  'GATEWAY_A_API_URL',
  'GATEWAY_A_API_KEY',
  'GATEWAY_A_API_SECRET',
  'GATEWAY_B_API_URL',
  'GATEWAY_B_API_KEY',
  'GATEWAY_B_API_SECRET',
] as const satisfies (keyof typeof Settings.properties)[]

const present = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))

async function portFor({ PORT }: NodeJS.ProcessEnv): Promise<string> {
  return PORT || String(await freePort(Settings.properties.PORT.default).catch(() => freePort(0)))
}
