import { inspect } from 'node:util'
import closeWithGrace from 'close-with-grace'
import type { Flags } from './config/command-line.ts'
import { ConfigError, readCallbackSecret, readConfig, readDatabaseUrl } from './config/config.ts'
import { migrate } from './database/migrate/migrate.ts'
import { migrationReport } from './database/migrate/migration-report.ts'
import { welcome } from './embedded/welcome.ts'
import { logger } from './log/log.ts'

/** Work in flight may finish within this time after SIGTERM; the rest is handed back. */
const STOP_WITHIN_MS = 25_000

const HIGHEST_PORT = 65_535

export async function runEmbedded(env: NodeJS.ProcessEnv, flags: Flags): Promise<void> {
  // The code is imported only here: a production image contains no PostgreSQL.
  const { startEmbedded } = await import('./embedded/start-embedded.ts')
  const starting = startEmbedded(env, { data: flags.data, flags: flags.flag })
  const stopping = new AbortController()
  // PostgreSQL has a process group of its own: a signal that ended only this process would leave it running.
  const grace = closeWithGrace({ delay: STOP_WITHIN_MS }, async ({ err }) => {
    say(err)
    stopping.abort()
    // A start that fails closes what it had opened.
    const embedded = await starting.catch(() => undefined)
    await embedded?.close()
  })
  const embedded = await starting
  if (stopping.signal.aborted) return
  try {
    await migrateAll(embedded.env, stopping.signal)
    const running = runRole(embedded.env, flags.role, embedded.close)
    // Only now does the role have a handler of its own.
    grace.uninstall()
    process.stdout.write(welcome(embedded, await running, configOf(embedded.env, flags.role)))
  } catch (error) {
    await embedded.close()
    if (!stopping.signal.aborted) throw error
  }
}

export async function runMigrate(env: NodeJS.ProcessEnv, isOneLogin = false): Promise<void> {
  const report = migrationReport(await migrateAll(env), isOneLogin)
  process.stdout.write(report.text)
  if (!report.canStart) process.exitCode = 1
}

async function migrateAll(env: NodeJS.ProcessEnv, stopping?: AbortSignal) {
  const { allQueues } = await import('./worker.ts')
  return migrate(readDatabaseUrl(env), allQueues, stopping)
}

export async function reset({ data }: Flags): Promise<void> {
  const { resetData } = await import('./embedded/reset-data.ts')
  process.stdout.write(`Emptied ${await resetData(data)}; its token and passwords stay\n`)
}

export async function runSandboxes(flags: Flags): Promise<void> {
  // The sandbox is imported only here: it would add a fifth to what a role loads.
  const { runSandbox, runSandboxGateways } = await import('./sandbox/commands.ts')
  const listen = { host: flags.host ?? '127.0.0.1', port: portOf(flags) }
  return flags.gateway ? runSandboxGateways(listen) : runSandbox(listen, flags.flag ?? [])
}

export async function runReceiver(env: NodeJS.ProcessEnv, flags: Flags): Promise<void> {
  // The receiver is imported only here: a role sends callbacks and takes none.
  const { receiveCallbacks } = await import('./callbacks/receive-callbacks.ts')
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const secrets = readCallbackSecret(env)
  const receiver = await receiveCallbacks({ port: portOf(flags), secrets }, print)
  closeWithGrace(({ err }) => {
    say(err)
    return receiver.close()
  })
  print(`CALLBACK_URL=${receiver.url} CALLBACK_SECRET=${receiver.secret}`)
}

export async function runRole(
  env: NodeJS.ProcessEnv,
  role?: string,
  afterwards = async () => {},
): Promise<string> {
  const config = configOf(env, role)
  const log = logger(config.LOG_LEVEL)
  const stopping = new AbortController()
  // A role is imported only here: the other commands need little of what it loads.
  const starting = import('./role.ts').then(({ startRole }) =>
    startRole(config, log, stopping.signal),
  )
  // The handler is registered before the start completes: a worker has work in flight before its last part has started.
  closeWithGrace({ delay: STOP_WITHIN_MS, logger: log }, async ({ err, signal }) => {
    const since = performance.now()
    log.info({ signal }, 'stopping')
    stopping.abort()
    // A fatal one would be flushed at once, and wait for a disk that is full.
    if (err) log.error({ err }, 'stopping after an uncaught error')
    const started = await starting.catch(() => undefined)
    await started?.close()
    await afterwards()
    log.info({ ms: Math.round(performance.now() - since) }, 'stopped')
  })
  try {
    return (await starting).url
  } catch (error) {
    // The stop ends the process, and is no failure.
    if (stopping.signal.aborted) return new Promise(() => undefined)
    throw error
  }
}

const configOf = (env: NodeJS.ProcessEnv, role?: string) =>
  readConfig(role ? { ...env, ROLE: role } : env)

/** An error that nothing caught, where no log has it yet. */
function say(error: Error | undefined): void {
  if (error) process.stderr.write(`${inspect(error)}\n`)
}

function portOf({ port = '0' }: Flags): number {
  if (/^\d+$/.test(port) && Number(port) <= HIGHEST_PORT) return Number(port)
  throw new ConfigError(`--port must be a number from 0 to ${HIGHEST_PORT}, not ${port}`)
}
