import type { FastifyBaseLogger } from 'fastify'
import { ensureFirstAdmin } from './accounts/first-admin.ts'
import { buildApi } from './api.ts'
import { type Config, ConfigError } from './config/config.ts'
import {
  type Database,
  type DatabaseOptions,
  LONG_STATEMENT_MS,
  openDatabase,
  untilReady,
} from './database/database.ts'
import { isUpToDate, tablesPresent } from './database/migrate.ts'
import { openWatch } from './database/watch.ts'
import { backlog } from './http/limits.ts'
import { health } from './ops/health.ts'
import { openMetrics } from './ops/metrics.ts'
import { openTraces } from './ops/traces.ts'
import { openHousekeeping, openQueue } from './queue/queue.ts'
import { startWorker, type Worker } from './worker.ts'

/** One each for a batch, a run of a migration, the payments' gauges and the purge. */
const LONG_STATEMENTS_AT_ONCE = 4

/** A running role. */
export type Service = { url: string; close(): Promise<void> }

/**
 * Starts everything the role needs, from the database upwards.
 * @returns the URL, and `close`, which stops taking work, finishes or hands back work in flight, and closes in order
 */
export async function startRole(config: Config, log: FastifyBaseLogger): Promise<Service> {
  const isWorker = config.ROLE !== 'api'
  const name = `loanops-${config.ROLE}`
  const onError = (error: Error) => log.error({ err: error }, 'database')

  const db = await openReadyDatabase(config, log, { name, onError })
  const boss = openQueue(config.DATABASE_URL, { isWorker, name, onError })

  const metrics = openMetrics()
  const watch = openWatch()
  const traces = await openTraces(config, log)
  let worker: Worker | undefined
  const readiness = health(db, tablesPresent(), () => worker?.ledgerState(), watch)
  const app = await buildApi({ db, boss, metrics, health: readiness, watch, traces }, config, log)
  const patient = openDatabase(config.DATABASE_URL, {
    max: LONG_STATEMENTS_AT_ONCE,
    name: `${name}-patient`,
    onError,
    statementMs: LONG_STATEMENT_MS,
  })
  const housekeeping = openHousekeeping(config.DATABASE_URL, { name, onError })
  const close = async () => {
    await Promise.all([app.close(), worker?.stop()])
    await Promise.all([boss.stop({ graceful: false }), housekeeping.stop({ graceful: false })])
    await Promise.all([patient.destroy(), db.destroy(), traces.stop()])
  }
  try {
    await boss.start()
    // Before taking any work: a process that cannot listen must not claim anything.
    const url = await app.listen({ host: config.HOST, port: config.PORT, backlog })
    if (isWorker) {
      worker = await startWorker({ db, patient, boss, metrics, watch, traces, log }, config)
      await housekeeping.start()
    }
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the database, up to date and with the first administrator. @throws ConfigError if it is behind */
async function openReadyDatabase(
  config: Config,
  log: FastifyBaseLogger,
  options: Pick<DatabaseOptions, 'name' | 'onError'>,
): Promise<Database> {
  const db = openDatabase(config.DATABASE_URL, { max: config.DATABASE_POOL_MAX, ...options })
  try {
    await untilReady(db, log)
    if (!(await isUpToDate(db)))
      throw new ConfigError('The database is behind this version: run "npm run migrate"')
    if (config.ROLE !== 'worker') await ensureFirstAdmin(db, config)
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}
