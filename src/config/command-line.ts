import { parseArgs } from 'node:util'
import { ConfigError } from './config.ts'

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
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
  pause: { type: 'boolean' },
  write: { type: 'boolean' },
  tenant: { type: 'string' },
  head: { type: 'string' },
} as const
type Option = keyof typeof OPTIONS
export type Flags = ReturnType<typeof parsed>['values']

/** Without a command, a role is run. */
const ROLE = ''
const TAKES_FILES = 'migrate-portfolio'
/** The options of each command. One that it does not take is refused: a migrate that ignored --dry-run would migrate. */
const COMMANDS: Record<string, Option[]> = {
  [ROLE]: ['embedded', 'role', 'flag', 'data', 'version'],
  migrate: ['one-login'],
  'create-admin': ['username'],
  reset: ['data'],
  sandbox: ['host', 'port', 'gateway', 'flag'],
  'receive-callbacks': ['port'],
  'check-ledger': ['json', 'all-lenders', 'write', 'tenant'],
  'verify-audit': ['head'],
  'after-restore': ['since', 'pause'],
  [TAKES_FILES]: ['dry-run', 'skip-invalid'],
}

/** @throws ConfigError if the command does not exist, or does not take what it was given */
export function readCommandLine(args = process.argv.slice(2)) {
  const { values: flags, positionals } = parsed(args)
  const [name = ROLE, ...given] = positionals
  if (flags.help || name === 'help') return { name: 'help', flags, given }
  const takes = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (takes === undefined) throw new ConfigError(`There is no command ${name}.\n${usage()}`)
  const option = Object.keys(flags).find(key => !takes.includes(key as Option))
  const other = option === undefined ? given[0] : `--${option}`
  if (other !== undefined && (option !== undefined || name !== TAKES_FILES))
    throw new ConfigError(`${name || 'A role'} does not take ${other}.\n${usage()}`)
  return { name, flags, given }
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: OPTIONS })
  } catch (error) {
    // Node's second sentence explains how to pass what nobody means here.
    const [said] = (error as Error).message.split('. ')
    throw new ConfigError(`${said}.\n${usage()}`, { cause: error })
  }
}

export function usage(): string {
  const lines = Object.entries(COMMANDS).map(([name, options]) =>
    [
      name === ROLE ? '  node src/main.ts' : `  npm run ${name} --`,
      ...options.map(option => `[--${option}${OPTIONS[option].type === 'string' ? ' …' : ''}]`),
      ...(name === TAKES_FILES ? ['FILE…'] : []),
    ].join(' '),
  )
  return ['Commands:', ...lines, 'docs/ says what each is for.'].join('\n')
}
