import type { FastifyBaseLogger } from 'fastify'
import { ensureFirstAdmin } from './accounts/first-admin.ts'
import { buildApi } from './api.ts'
import { type Config, ConfigError } from './config.ts'
import { openDatabase, untilReady } from './database.ts'
import { backlog } from './http-limits.ts'
import { isUpToDate, tablesPresent } from './migrate.ts'
import { health } from './ops/health.ts'
import { openMetrics } from './ops/metrics.ts'
import { openQueue } from './queue.ts'
import { startWorker, type Worker } from './worker.ts'

/** One process in its role. */
export type Service = { url: string; close(): Promise<void> }

/**
 * Opens what the role needs, from the database upwards.
 * @returns its URL and how to stop: take nothing more, finish or hand back what is in flight, close in order
 */
export async function startRole(config: Config, log: FastifyBaseLogger): Promise<Service> {
  const isWorker = config.ROLE !== 'api'
  const name = `loanops-${config.ROLE}`
  const onError = (error: Error) => log.error({ err: error }, 'database')

  const db = openDatabase(config.DATABASE_URL, { max: config.DATABASE_POOL_MAX, name, onError })
  await untilReady(db, log)
  if (!(await isUpToDate(db))) {
    await db.destroy()
    throw new ConfigError(
      'The database is not as this version\'s "npm run migrate" leaves it: run that, or start the newer version that ran it last',
    )
  }
  if (config.ROLE !== 'worker') await ensureFirstAdmin(db, config)
  const boss = openQueue(config.DATABASE_URL, { isWorker, name, onError })
  await boss.start()

  const metrics = openMetrics()
  let worker: Worker | undefined
  const readiness = health(db, tablesPresent(), () => worker?.ledgerState())
  const app = await buildApi({ db, boss, metrics, health: readiness }, config, log)
  const close = async () => {
    await Promise.all([app.close(), worker?.stop()])
    await boss.stop({ graceful: false })
    await db.destroy()
  }
  try {
    // Before any work is taken: a process that cannot listen must not claim anything.
    const url = await app.listen({ host: config.HOST, port: config.PORT, backlog })
    if (isWorker) worker = await startWorker(db, boss, config, metrics, log)
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}
