import type { Test } from 'tap'
import { type Config, readConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/database/database.ts'
import { logger } from '../../src/log/log.ts'
import type { Gateway } from '../../src/payments/gateways/gateway.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { freshDatabase } from './database/fresh-database.ts'

export const TOKEN = 'token-for-tests-only'
/** An address at which nothing answers. */
export const NO_LEDGER = 'http://127.0.0.1:9/api/v1'
export const NO_DATABASE = 'postgres://nobody@127.0.0.1:9/none'

/** Settings for a test with this database and ledger; `changes` takes precedence. */
export function testEnv(
  databaseUrl: string,
  ledgerUrl: string,
  changes: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv {
  return {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_MAX: '4',
    INTERNAL_TOKEN: TOKEN,
    JWT_SECRET: 'a-secret-of-32-characters-for-tests',
    LEDGER_URL: ledgerUrl,
    LEDGER_USERNAME: 'mifos',
    LEDGER_PASSWORD: 'password',
    LEDGER_TIMEOUT_MS: '5000',
    // A batch of its own time would post a payment before a test has sent the refund.
    REPAYMENT_CRON: '0 0 1 1 *',
    // Its reads would take the faults that a test meant for others.
    LEDGER_CHECK_MINUTES: '0',
    LOG_LEVEL: 'silent',
    // Takes a sixth of a start, so tests that need the contract turn it on.
    DOCS_ENABLED: 'false',
    CONSOLE_ENABLED: 'false',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    ...changes,
  }
}

export type TestService = {
  /** The service's URL, without a path. */
  url: string
  db: Database
  databaseUrl: string
  ledger: { url: string; controlUrl: string }
  config: Config
  call: Call
}

/** An HTTP call with the internal token. The answer's body is parsed if it is JSON. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; headers: Headers; body: any }>

export type Preparation = {
  gateways?: Gateway[]
  prepare?(db: Database): Promise<unknown>
  /** The flags of the sandbox ledger. */
  flags?: string[]
  atLedger?(service: Pick<TestService, 'ledger'>): Promise<unknown>
}

/**
 * Runs the whole service in this process, with its own database and ledger. `prepare` and `atLedger` run before it
 * starts: it reads some of the ledger at once.
 */
export async function startTestService(
  t: Test,
  changes: NodeJS.ProcessEnv = {},
  { gateways, prepare, flags = [], atLedger }: Preparation = {},
): Promise<TestService> {
  const { url: databaseUrl, db } = await freshDatabase(t)
  await prepare?.(db)
  const ledger = await startSandbox({ port: 0, flags })
  await atLedger?.({ ledger })
  const config = readConfig(testEnv(databaseUrl, ledger.url, changes), gateways)
  const service = await startRole(config, logger(config.LOG_LEVEL))
  t.teardown(async () => {
    // Together: a call that hangs ends with its connection, not at its time limit.
    await Promise.all([service.close(), ledger.close()])
  })
  return { url: service.url, db, databaseUrl, ledger, config, call: caller(service.url) }
}

export function caller(url: string): Call {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        'x-internal-token': TOKEN,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: json(text) }
  }
}

/** Submits an operation and waits for its end. */
export async function operate(
  call: Call,
  status: string,
  data: object,
  headers?: Record<string, string>,
) {
  const { body } = await call('POST', '/api/ledger/operate', { status, data }, headers)
  const tracked = await call(
    'GET',
    `/api/ledger/track/${encodeURIComponent(body.tracking_id)}?wait=20`,
  )
  return tracked.body
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
