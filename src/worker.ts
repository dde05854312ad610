import type { Config } from './config/config.ts'
import type { Database } from './database/database.ts'
import type { WorkerContext, WorkerServices } from './engine/feature.ts'
import type { OnFinal } from './engine/finish/finish.ts'
import { FEATURES } from './jobs.ts'
import { openReference } from './ledger/reference/reference.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { openSetUpBehind } from './operations/set-up-behind.ts'
import type { Ask } from './ops/health.ts'
import type { Metrics } from './ops/metrics.ts'
import { type Job, together } from './queue/job.ts'

export const allQueues = FEATURES.flatMap(({ queues = [] }) => queues)

export const allCounters = FEATURES.flatMap(({ counters }) => counters ?? [])
export const allReports = (config: Config) =>
  FEATURES.flatMap(({ report }) => (report ? (ask: Ask) => report(ask, config) : []))
export const allCrashPoints = FEATURES.flatMap(({ crashPoints = [] }) => crashPoints)

export async function prepareAll(db: Database, config: Config): Promise<void> {
  for (const { prepare } of FEATURES) await prepare?.(db, config)
}

export type Worker = { breakerState(): object; stop: Job['stop'] }

export async function startWorker(services: WorkerServices, config: Config): Promise<Worker> {
  const { stop } = await startJobs(contextOf(services, config))
  return { breakerState: services.ledger.breaker.state, stop }
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
    onFinal: notifyAll(metrics),
    purges: FEATURES.flatMap(({ purge }) => purge ?? []),
  }
}

/** Starts all jobs or none: nobody would stop the jobs of a worker that did not start. */
async function startJobs(context: WorkerContext): Promise<Job> {
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

export function notifyAll(metrics: Metrics): OnFinal {
  return {
    origins: FEATURES.flatMap(({ onFinal }) => onFinal?.origins ?? []),
    async record(trx, final) {
      const counts: (() => void)[] = []
      for (const { onFinal } of FEATURES) {
        const own = final.filter(({ claim }) => onFinal?.origins.includes(claim.origin))
        if (onFinal && own.length > 0) counts.push(await onFinal.record(trx, own, metrics))
      }
      return () => {
        for (const count of counts) count()
      }
    },
    note(final) {
      for (const feature of FEATURES) feature.noteFinal?.(final, metrics)
    },
  }
}
