import { parseArgs } from 'node:util'
import closeWithGrace from 'close-with-grace'
import { createAdmin } from './accounts/create-admin.ts'
import { ConfigError, readConfig, readDatabaseUrl } from './config/config.ts'
import { armCrashPoints } from './crash-point.ts'
import { migrate } from './database/migrate.ts'
import { welcome } from './embedded/welcome.ts'
import { logger } from './log.ts'
import { migratePortfolio } from './portfolio/command/migrate-portfolio.ts'
import { startRole } from './role.ts'
import { allQueues } from './worker.ts'

/** Work in flight may finish within this time after SIGTERM; the rest is handed back. */
const STOP_WITHIN_MS = 25_000

const HIGHEST_PORT = 65_535

const OPTIONS = {
  embedded: { type: 'boolean' },
  role: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  username: { type: 'string' },
  gateway: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'skip-invalid': { type: 'boolean' },
} as const

const { values: flags, positionals } = commandLine()
try {
  armCrashPoints(process.env.LOANOPS_CRASH_AT)
  await command(positionals[0])
} catch (error) {
  ended(error)
}

function commandLine() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS })
  } catch (error) {
    return ended(error)
  }
}

function ended(error: unknown): never {
  // biome-ignore lint/suspicious/noConsole: there is no logger yet, and this is for a person
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

async function command(name: string | undefined): Promise<void> {
  switch (name) {
    case undefined:
      return flags.embedded ? runEmbedded() : void (await runRole(process.env))
    case 'migrate':
      return migrate(readDatabaseUrl(process.env), allQueues)
    case 'create-admin':
      return createAdmin(readDatabaseUrl(process.env), flags.username)
    case 'sandbox':
      return runSandboxes()
    case 'receive-callbacks':
      return runReceiver()
    case 'migrate-portfolio':
      return migratePortfolio(process.env, positionals.slice(1), {
        isDryRun: flags['dry-run'] === true,
        skipInvalid: flags['skip-invalid'] === true,
      })
    default:
      throw new ConfigError(
        `There is no command ${name}. Commands: migrate, create-admin, sandbox, receive-callbacks, migrate-portfolio; without one, a role is run`,
      )
  }
}

/** Runs everything on this machine, for trying it out. */
async function runEmbedded(): Promise<void> {
  // Imported only here: a production image contains no PostgreSQL.
  const { startEmbedded } = await import('./embedded/start-embedded.ts')
  const embedded = await startEmbedded(process.env)
  try {
    await migrate(readDatabaseUrl(embedded.env), allQueues)
    const url = await runRole(embedded.env, embedded.close)
    process.stdout.write(welcome(embedded.env, url))
  } catch (error) {
    await embedded.close()
    throw error
  }
}

async function runSandboxes(): Promise<void> {
  // Imported only here: it would add a fifth to what a role loads.
  const { runSandbox, runSandboxGateways } = await import('./sandbox/commands.ts')
  const listen = { host: flags.host ?? '127.0.0.1', port: portOf(flags) }
  return flags.gateway ? runSandboxGateways(listen) : runSandbox(listen)
}

async function runReceiver(): Promise<void> {
  // Only here: a role sends callbacks and takes none.
  const { receiveCallbacks } = await import('./callbacks/receive-callbacks.ts')
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const { CALLBACK_SECRET: secrets } = process.env
  const receiver = await receiveCallbacks({ port: portOf(flags), secrets }, print)
  closeWithGrace(() => receiver.close())
  print(`CALLBACK_URL=${receiver.url} CALLBACK_SECRET=${receiver.secret}`)
}

/** Any free port by default. */
function portOf({ port = '0' }: typeof flags): number {
  if (/^\d+$/.test(port) && Number(port) <= HIGHEST_PORT) return Number(port)
  throw new ConfigError(`--port must be a number from 0 to ${HIGHEST_PORT}, not ${port}`)
}

/** Runs a role until the process is asked to stop. */
async function runRole(env: NodeJS.ProcessEnv, afterwards = async () => {}): Promise<string> {
  const config = readConfig(flags.role ? { ...env, ROLE: flags.role } : env)
  const log = logger(config.LOG_LEVEL)
  const starting = startRole(config, log)
  // Registered before the start completes: a worker has work in flight before its last part has started.
  closeWithGrace({ delay: STOP_WITHIN_MS, logger: log }, async ({ err }) => {
    if (err) log.fatal({ err }, 'stopping after an uncaught error')
    const started = await starting.catch(() => undefined)
    await started?.close()
    await afterwards()
  })
  return (await starting).url
}
