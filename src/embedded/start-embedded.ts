import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { listOf } from '../config.ts'
import { startSandbox } from '../sandbox/server.ts'
import { freePort } from './free-port.ts'
import { takeFolder } from './one-per-folder.ts'
import { ordinaryUser } from './ordinary-user.ts'
import { startPostgres } from './postgres.ts'
import { PRIVATE_FILE, privateFolder } from './private-folder.ts'

const DATA_FOLDER = '.data'
const DEFAULT_PORT = 3_000
/** Enough that nobody guesses it, few enough to paste. */
const SECRET_BYTES = 24

/** What was started on this machine, and the settings that reach it. */
export type Embedded = { env: NodeJS.ProcessEnv; close(): Promise<void> }

/**
 * Starts what `DATABASE_URL` and `LEDGER_URL` do not name: a PostgreSQL from npm and the sandbox ledger, with their
 * data under `.data/`. Makes up the secrets that are not set, and keeps them there for the next start.
 */
export async function startEmbedded(env: NodeJS.ProcessEnv): Promise<Embedded> {
  const folder = resolve(DATA_FOLDER)
  privateFolder(folder, ordinaryUser())
  const made: NodeJS.ProcessEnv & Secrets = {
    ...secrets(folder),
    PORT: await portFor(env),
    LOG_LEVEL: 'warn',
    ...present(env),
  }
  const opened: { close(): Promise<void> }[] = []
  if (!made.DATABASE_URL || !made.LEDGER_URL)
    opened.push(takeFolder(resolve(folder, 'loanops.pid')))
  if (!made.DATABASE_URL) {
    const postgres = await startPostgres({
      folder: resolve(folder, 'postgres'),
      password: made.POSTGRES_PASSWORD,
    })
    opened.push(postgres)
    made.DATABASE_URL = postgres.url
  }
  if (!made.LEDGER_URL) {
    const sandbox = await startSandbox({
      port: 0,
      booksFile: resolve(folder, 'ledger-books.jsonl'),
    })
    opened.push(sandbox)
    Object.assign(made, {
      LEDGER_URL: sandbox.url,
      LEDGER_USERNAME: 'mifos',
      LEDGER_PASSWORD: 'password',
    })
  }
  // For the examples in README: a shell reads them from here.
  const [token = ''] = listOf(made.INTERNAL_TOKEN)
  writeFileSync(resolve(folder, 'internal-token'), token, { mode: PRIVATE_FILE })
  writeFileSync(resolve(folder, 'database-url'), made.DATABASE_URL, { mode: PRIVATE_FILE })
  return {
    env: made,
    async close() {
      for (const one of opened.reverse()) await one.close()
    },
  }
}

type Secrets = Record<
  'INTERNAL_TOKEN' | 'JWT_SECRET' | 'ADMIN_USERNAME' | 'ADMIN_PASSWORD' | 'POSTGRES_PASSWORD',
  string
>

function secrets(folder: string): Secrets {
  const file = resolve(folder, 'secrets.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const made = {
    INTERNAL_TOKEN: secret(),
    JWT_SECRET: secret() + secret(),
    ADMIN_USERNAME: 'admin',
    ADMIN_PASSWORD: secret(),
    POSTGRES_PASSWORD: secret(),
  }
  // Whole or not at all: half a file would lock the data away.
  writeFileSync(`${file}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: PRIVATE_FILE })
  renameSync(`${file}.new`, file)
  return made
}

const secret = () => randomBytes(SECRET_BYTES).toString('hex')

/** An empty setting is an unset one. */
const present = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))

/** The standard port, or a free one where another copy has that already. */
async function portFor({ PORT }: NodeJS.ProcessEnv): Promise<string> {
  return PORT || String(await freePort(DEFAULT_PORT).catch(() => freePort(0)))
}
