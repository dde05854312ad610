import type { Config } from './config/config.ts'
import type { Database } from './database/database.ts'
import type { WorkerContext, WorkerServices } from './engine/feature.ts'
import { notifyAll } from './engine/notify-all.ts'
import { FEATURES } from './jobs.ts'
import { openReference } from './ledger/reference/reference.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { openSetUpBehind } from './operations/set-up-behind.ts'
import type { Ask } from './ops/health.ts'
import { type Job, together } from './queue/job.ts'

export const allQueues = FEATURES.flatMap(({ queues = [] }) => queues)

export const allCounters = FEATURES.flatMap(({ counters }) => counters ?? [])
export const allReports = (config: Config) =>
  FEATURES.flatMap(({ report }) => (report ? (ask: Ask) => report(ask, config) : []))
export const allCrashPoints = FEATURES.flatMap(({ crashPoints = [] }) => crashPoints)

export async function prepareAll(db: Database, config: Config): Promise<void> {
  for (const { prepare } of FEATURES) await prepare?.(db, config)
}

/** Starts all jobs or none: nobody would stop the jobs of a worker that did not start. */
export async function startWorker(services: WorkerServices, config: Config): Promise<Job> {
  const context = contextOf(services, config)
  const started: Job[] = []
  try {
    for (const { jobs = [], gauges = [] } of FEATURES)
      for (const start of [...jobs, ...gauges]) started.push(await start(context))
  } catch (error) {
    await together(started).stop()
    throw error
  }
  return together(started)
}

function contextOf(services: WorkerServices, config: Config): WorkerContext {
  const { db, ledger, metrics } = services
  const catalogue = operationCatalogue(config.lenders)
  const own = FEATURES.flatMap(({ operations }) => operations?.(db, config) ?? [])
  return {
    ...services,
    config,
    reference: openReference(ledger, config),
    catalogue,
    runnable: new Map([
      ...catalogue,
      ...own.map(operation => [operation.name, operation] as const),
    ]),
    setUpBehind: openSetUpBehind(db, config.LEDGER_TIMEZONE),
    onFinal: notifyAll(FEATURES, metrics),
    purges: FEATURES.flatMap(({ purge }) => purge ?? []),
  }
}
