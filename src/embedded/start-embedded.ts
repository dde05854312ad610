import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError, readSandboxPort } from '../config/config.ts'
import { internalTokens } from '../config/secrets.ts'
import { Settings } from '../config/settings/settings.ts'
import { API_PARTS, apiSetting } from '../payments/gateways/gateway.ts'
import { GATEWAYS } from '../payments/gateways/gateways.ts'
import { startSandboxGateways } from '../sandbox/gateways/gateway-server.ts'
import { gatewaySettings } from '../sandbox/gateways/gateway-settings.ts'
import { startSandbox } from '../sandbox/server.ts'
import { type DataFolder, dataFolder } from './data-folder.ts'
import { tokenForExamples } from './example-token.ts'
import { freePort } from './free-port.ts'
import { ordinaryUser } from './ordinary-user.ts'
import { startPostgres } from './postgres.ts'
import { PRIVATE_FILE, privateFolder } from './private-folder.ts'
import { embeddedSecrets, type Secrets } from './secrets.ts'
import { takeFolder } from './take-folder.ts'

export type Surroundings = {
  env: NodeJS.ProcessEnv
  folder: string
  /** The URLs at which a tester makes the ledger and the gateways misbehave. */
  controls: Controls
}

type Controls = { ledger?: string; gateways?: string }
type Embedded = Surroundings & { close(): Promise<void> }
type EmbeddedOptions = { data?: string | undefined; flags?: string[] | undefined }
type Part = { close(): Promise<void>; settings: NodeJS.ProcessEnv; controls?: Controls }

/** Missing secrets are generated and kept for the next start. */
export async function startEmbedded(
  env: NodeJS.ProcessEnv,
  { data, flags = [] }: EmbeddedOptions = {},
): Promise<Embedded> {
  const files = dataFolder(data)
  const ports = sandboxPorts(env)
  privateFolder(files.folder, ordinaryUser())
  const settings: NodeJS.ProcessEnv & Secrets = {
    ...embeddedSecrets(files.secrets),
    PORT: await portFor(env),
    LOG_LEVEL: 'warn',
    ...present(env),
  }
  const isPresent = (name: string) => name in settings
  const missing: (() => Part | Promise<Part>)[] = []
  if (!settings.DATABASE_URL || !settings.LEDGER_URL)
    missing.push(() => ({ ...takeFolder(files.pid), settings: {} }))
  if (!settings.LEDGER_URL)
    missing.push(() => ports.ledger(port => startLedger(files, flags, port)))
  if (!GATEWAY_SETTINGS.some(isPresent)) missing.push(() => ports.gateways(startGateways))
  // PostgreSQL starts last, because it takes seconds, and the ports of the others may be in use.
  if (!settings.DATABASE_URL) missing.push(() => startDatabase(files, settings, ports.postgres))

  const controls: Controls = {}
  const opened: Part[] = []
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= closeAll(opened)
    return closed
  }
  try {
    for (const start of missing) {
      const part = await start()
      opened.push(part)
      Object.assign(settings, part.settings)
      Object.assign(controls, part.controls)
    }
  } catch (error) {
    await close()
    throw error
  }
  saveForExamples(files, settings)
  return { env: settings, folder: files.folder, controls, close }
}

async function closeAll(opened: Part[]): Promise<void> {
  for (const one of opened.toReversed()) await one.close()
}

async function startDatabase(
  { postgres: folder }: DataFolder,
  { POSTGRES_PASSWORD: password }: Secrets,
  port: () => Promise<number>,
): Promise<Part> {
  const { url, close } = await startPostgres({ folder, password, port })
  return { close, settings: { DATABASE_URL: url } }
}

async function startLedger({ books }: DataFolder, flags: string[], port: number): Promise<Part> {
  const { url, controlUrl, close } = await startSandbox({ port, booksFile: books, flags })
  return {
    close,
    settings: { LEDGER_URL: url, LEDGER_USERNAME: 'mifos', LEDGER_PASSWORD: 'password' },
    controls: { ledger: controlUrl },
  }
}

async function startGateways(port: number): Promise<Part> {
  const gateways = await startSandboxGateways({ port })
  return {
    close: gateways.close,
    settings: gatewaySettings(gateways),
    controls: { gateways: gateways.controlUrl },
  }
}

/** The docs' examples read the secrets from these files. */
function saveForExamples({ folder }: DataFolder, settings: NodeJS.ProcessEnv): void {
  const token = tokenForExamples(internalTokens(settings.INTERNAL_TOKEN))?.token ?? ''
  writeFileSync(resolve(folder, 'internal-token'), token, { mode: PRIVATE_FILE })
  writeFileSync(resolve(folder, 'database-url'), settings.DATABASE_URL ?? '', {
    mode: PRIVATE_FILE,
  })
}

const GATEWAY_SETTINGS = GATEWAYS.flatMap(name => API_PARTS.map(part => apiSetting(name, part)))

const present = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))

const portFor = async ({ PORT }: NodeJS.ProcessEnv): Promise<string> =>
  PORT || String(await freePort(Settings.properties.PORT.default).catch(() => freePort(0)))

type Start<T> = (port: number) => Promise<T>

/** The ports are the same from start to start, so that what a tester noted stays right. */
function sandboxPorts(env: NodeJS.ProcessEnv) {
  const first = readSandboxPort(env)
  const isGiven = Boolean(env.SANDBOX_PORT?.trim())
  const startAt = async <T>(place: number, start: Start<T>): Promise<T> => {
    const port = first === 0 ? 0 : first + place
    try {
      return await start(port)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      if (!isGiven) return start(0)
      const example = `SANDBOX_PORT=${first + 10}`
      throw new ConfigError(
        `SANDBOX_PORT is invalid: port ${port} is in use. Example: ${example}`,
        { cause: error },
      )
    }
  }
  return {
    ledger: <T>(start: Start<T>) => startAt(0, start),
    gateways: <T>(start: Start<T>) => startAt(1, start),
    postgres: () => startAt(2, freePort),
  }
}
