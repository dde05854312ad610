import { parseArgs } from 'node:util'
import { ConfigError, readDatabaseUrl } from './config/config.ts'
import { version } from './config/version.ts'
import { armCrashPoints } from './crash-point.ts'

const OPTIONS = {
  version: { type: 'boolean' },
  embedded: { type: 'boolean' },
  role: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  username: { type: 'string' },
  gateway: { type: 'boolean' },
  flag: { type: 'string', multiple: true },
  data: { type: 'string' },
  'one-login': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'skip-invalid': { type: 'boolean' },
  json: { type: 'boolean' },
  'all-lenders': { type: 'boolean' },
  since: { type: 'string' },
  write: { type: 'boolean' },
  tenant: { type: 'string' },
  head: { type: 'string' },
} as const

const { values: flags, positionals } = commandLine()
try {
  await armCrash(process.env.LOANOPS_CRASH_AT)
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

async function armCrash(at: string | undefined): Promise<void> {
  if (at) armCrashPoints(at, (await import('./worker.ts')).allCrashPoints)
}

/** Each command imports its own code: loading all of it takes longer than most commands. */
async function command(name: string | undefined): Promise<void> {
  switch (name) {
    case undefined: {
      if (flags.version) return void process.stdout.write(`${version}\n`)
      const { runEmbedded, runRole } = await import('./commands.ts')
      return flags.embedded
        ? runEmbedded(process.env, flags)
        : void (await runRole(process.env, flags.role))
    }
    case 'create-admin': {
      const { createAdmin } = await import('./accounts/create-admin.ts')
      return createAdmin(readDatabaseUrl(process.env), flags.username)
    }
    case 'check-ledger': {
      const { checkFromCommand } = await import('./operations/check-ledger/command.ts')
      process.exitCode = await checkFromCommand(process.env, flags)
      return
    }
    case 'verify-audit': {
      const { verifyFromCommand } = await import('./accounts/audit-chain/verify-command.ts')
      process.exitCode = await verifyFromCommand(readDatabaseUrl(process.env), flags.head)
      return
    }
    case 'migrate-portfolio': {
      const { migratePortfolio } = await import('./portfolio/command/migrate-portfolio.ts')
      return migratePortfolio(process.env, positionals.slice(1), {
        isDryRun: flags['dry-run'] === true,
        skipInvalid: flags['skip-invalid'] === true,
      })
    }
    default:
      return otherCommand(name)
  }
}

async function otherCommand(name: string): Promise<void> {
  const { reset, runAfterRestore, runMigrate, runReceiver, runSandboxes } = await import(
    './commands.ts'
  )
  switch (name) {
    case 'migrate':
      return runMigrate(process.env, flags['one-login'])
    case 'reset':
      return reset(flags)
    case 'sandbox':
      return runSandboxes(flags)
    case 'receive-callbacks':
      return runReceiver(process.env, flags)
    case 'after-restore':
      return runAfterRestore(process.env, flags.since)
    default:
      throw new ConfigError(
        `There is no command ${name}. Commands: migrate, create-admin, reset, sandbox, receive-callbacks, check-ledger, verify-audit, after-restore, migrate-portfolio; without one, a role is run`,
      )
  }
}
