import { readCommandLine, usage } from './config/command-line.ts'
import { readDatabaseUrl } from './config/config.ts'
import { version } from './config/version.ts'
import { armCrashPoints } from './crash-point.ts'

const { env } = process
const { name, flags, given } = commandLine()

/** Each command imports its own code: loading all of it takes longer than most commands. */
const COMMANDS: Record<string, () => Promise<unknown>> = {
  help: async () => process.stdout.write(`${usage()}\n`),
  async ''() {
    if (flags.version) return process.stdout.write(`${version}\n`)
    const { runEmbedded, runRole } = await import('./commands.ts')
    return flags.embedded ? runEmbedded(env, flags) : runRole(env, flags.role)
  },
  async migrate() {
    const { runMigrate } = await import('./commands.ts')
    return runMigrate(env, flags['one-login'])
  },
  async 'create-admin'() {
    const { createAdmin } = await import('./accounts/create-admin.ts')
    return createAdmin(readDatabaseUrl(env), flags.username)
  },
  async reset() {
    const { reset } = await import('./commands.ts')
    return reset(flags)
  },
  async sandbox() {
    const { runSandboxes } = await import('./commands.ts')
    return runSandboxes(flags)
  },
  async 'receive-callbacks'() {
    const { runReceiver } = await import('./commands.ts')
    return runReceiver(env, flags)
  },
  async 'check-ledger'() {
    const { checkFromCommand } = await import('./operations/check-ledger/check-ledger-command.ts')
    process.exitCode = await checkFromCommand(env, flags)
  },
  async 'verify-audit'() {
    const { verifyFromCommand } = await import('./accounts/audit-chain/verify-command.ts')
    process.exitCode = await verifyFromCommand(readDatabaseUrl(env), flags.head)
  },
  async 'after-restore'() {
    const { restoreFromCommand } = await import('./restore/restore-command.ts')
    return restoreFromCommand(env, flags.since, flags.pause)
  },
  async 'migrate-portfolio'() {
    const { migratePortfolio } = await import('./portfolio/command/migrate-portfolio.ts')
    const { 'dry-run': isDryRun = false, 'skip-invalid': skipInvalid = false } = flags
    return migratePortfolio(env, given, { isDryRun, skipInvalid })
  },
}

// Whoever stops reading what a command prints, as `head` does, changes neither its work nor its status.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return
  process.exitCode = 1
  process.stderr.write(`The output could not be written: ${message}\n`)
})

try {
  await armCrash(env.LOANOPS_CRASH_AT)
  await COMMANDS[name]?.()
} catch (error) {
  exitWith(error)
}

function commandLine() {
  try {
    return readCommandLine()
  } catch (error) {
    return exitWith(error)
  }
}

function exitWith(error: unknown): never {
  // biome-ignore lint/suspicious/noConsole: there is no logger yet, and this is for a person
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

async function armCrash(at: string | undefined): Promise<void> {
  if (at) armCrashPoints(at, (await import('./worker.ts')).allCrashPoints)
}
