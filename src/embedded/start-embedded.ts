import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { internalTokens } from '../config/config.ts'
import { type SandboxGateways, startSandboxGateways } from '../sandbox/gateways/gateway-server.ts'
import { startSandbox } from '../sandbox/server.ts'
import { freePort } from './free-port.ts'
import { takeFolder } from './one-per-folder.ts'
import { ordinaryUser } from './ordinary-user.ts'
import { startPostgres } from './postgres.ts'
import { PRIVATE_FILE, privateFolder } from './private-folder.ts'

const DATA_FOLDER = '.data'
const DEFAULT_PORT = 3_000
/** Too many to guess, few enough to paste. */
const SECRET_BYTES = 24

/** The services started on this machine, and the settings to connect to them. */
export type Embedded = { env: NodeJS.ProcessEnv; close(): Promise<void> }

/**
 * Starts a PostgreSQL from npm if `DATABASE_URL` is unset, and the sandbox ledger if `LEDGER_URL` is unset, with their
 * data under `.data/`, and the sandbox of the gateways' APIs if no setting of theirs is set, with its data in memory. Generates the secrets that are not set, and keeps them there for the next start.
 */
export async function startEmbedded(env: NodeJS.ProcessEnv): Promise<Embedded> {
  const folder = resolve(DATA_FOLDER)
  privateFolder(folder, ordinaryUser())
  const settings: NodeJS.ProcessEnv & Secrets = {
    ...secrets(folder),
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
  if (!Object.keys(settings).some(name => /^GATEWAY_[AB]_API_(URL|KEY|SECRET)$/.test(name))) {
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

const gatewaySettings = ({ urlA, urlB, key, secret }: SandboxGateways) => ({
  GATEWAY_A_API_URL: urlA,
  GATEWAY_A_API_KEY: key,
  GATEWAY_A_API_SECRET: secret,
  GATEWAY_B_API_URL: urlB,
  GATEWAY_B_API_KEY: key,
  GATEWAY_B_API_SECRET: secret,
})

type Secrets = Record<
  'INTERNAL_TOKEN' | 'JWT_SECRET' | 'ADMIN_USERNAME' | 'ADMIN_PASSWORD' | 'POSTGRES_PASSWORD',
  string
>

function secrets(folder: string): Secrets {
  const file = resolve(folder, 'secrets.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const generated = {
    INTERNAL_TOKEN: secret(),
    JWT_SECRET: secret() + secret(),
    ADMIN_USERNAME: 'admin',
    ADMIN_PASSWORD: secret(),
    POSTGRES_PASSWORD: secret(),
  }
  // Renamed when complete: without its password the data could not be opened any more.
  writeFileSync(`${file}.new`, `${JSON.stringify(generated, null, 2)}\n`, { mode: PRIVATE_FILE })
  renameSync(`${file}.new`, file)
  return generated
}

const secret = () => randomBytes(SECRET_BYTES).toString('hex')

/** An empty setting counts as unset. */
const present = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))

/** The default port, or a free one if it is taken. */
async function portFor({ PORT }: NodeJS.ProcessEnv): Promise<string> {
  return PORT || String(await freePort(DEFAULT_PORT).catch(() => freePort(0)))
}
