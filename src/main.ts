import { readCommandLine, usage } from './config/command-line.ts'
import { readDatabaseUrl } from './config/config.ts'
import { version } from './config/version.ts'
import { armCrashPoints } from './crash-point.ts'

const { name, flags, given } = commandLine()
try {
  await armCrash(process.env.LOANOPS_CRASH_AT)
  await command()
} catch (error) {
  ended(error)
}

function commandLine() {
  try {
    return readCommandLine()
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
async function command(): Promise<void> {
  switch (name) {
    case 'help':
      return void process.stdout.write(`${usage()}\n`)
    case '': {
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
      return migratePortfolio(process.env, given, {
        isDryRun: flags['dry-run'] === true,
        skipInvalid: flags['skip-invalid'] === true,
      })
    }
    default:
      return otherCommand()
  }
}

async function otherCommand(): Promise<void> {
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
  }
}
