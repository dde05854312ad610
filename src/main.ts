import { parseArgs } from 'node:util'
import { verifyFromCommand } from './accounts/audit-chain/verify-command.ts'
import { createAdmin } from './accounts/create-admin.ts'
import {
  reset,
  runAfterRestore,
  runEmbedded,
  runMigrate,
  runReceiver,
  runRole,
  runSandboxes,
} from './commands.ts'
import { ConfigError, readDatabaseUrl } from './config/config.ts'
import { version } from './config/version.ts'
import { armCrashPoints } from './crash-point.ts'
import { checkFromCommand } from './operations/check-ledger/command.ts'
import { migratePortfolio } from './portfolio/command/migrate-portfolio.ts'
import { allCrashPoints } from './worker.ts'

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
  armCrashPoints(process.env.LOANOPS_CRASH_AT, allCrashPoints)
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
      if (flags.version) return void process.stdout.write(`${version}\n`)
      return flags.embedded
        ? runEmbedded(process.env, flags)
        : void (await runRole(process.env, flags.role))
    case 'migrate':
      return runMigrate(process.env, flags['one-login'])
    case 'create-admin':
      return createAdmin(readDatabaseUrl(process.env), flags.username)
    case 'reset':
      return reset(flags)
    case 'sandbox':
      return runSandboxes(flags)
    case 'receive-callbacks':
      return runReceiver(process.env, flags)
    case 'check-ledger':
      process.exitCode = await checkFromCommand(process.env, flags)
      return
    case 'verify-audit':
      process.exitCode = await verifyFromCommand(readDatabaseUrl(process.env), flags.head)
      return
    case 'after-restore':
      return runAfterRestore(process.env, flags.since)
    case 'migrate-portfolio':
      return migratePortfolio(process.env, positionals.slice(1), {
        isDryRun: flags['dry-run'] === true,
        skipInvalid: flags['skip-invalid'] === true,
      })
    default:
      throw new ConfigError(
        `There is no command ${name}. Commands: migrate, create-admin, reset, sandbox, receive-callbacks, check-ledger, verify-audit, after-restore, migrate-portfolio; without one, a role is run`,
      )
  }
}
