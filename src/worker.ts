import type { Config } from './config/config.ts'
import type { Database } from './database/database.ts'
import { notifyFeatures } from './engine/notify-features.ts'
import { startJobs } from './engine/start-jobs.ts'
import { FEATURES } from './jobs.ts'
import type { Ask } from './ops/health.ts'
import type { Metrics } from './ops/metrics.ts'
import type { Job } from './queue/job.ts'
import { type WorkerServices, workerContext } from './worker-context.ts'

export const allQueues = FEATURES.flatMap(({ queues = [] }) => queues)

export const allCounters = FEATURES.flatMap(({ counters }) => counters ?? [])
export const allReports = (config: Config) =>
  FEATURES.flatMap(({ report }) => (report ? (ask: Ask) => report(ask, config) : []))
export const allCrashPoints = FEATURES.flatMap(({ crashPoints = [] }) => crashPoints)

export const notifyAll = (metrics: Metrics) => notifyFeatures(FEATURES, metrics)

export async function prepareAll(db: Database, config: Config): Promise<void> {
  for (const { prepare } of FEATURES) await prepare?.(db, config)
}

export type Worker = { breakerState(): object; stop: Job['stop'] }

export async function startWorker(services: WorkerServices, config: Config): Promise<Worker> {
  const onFinal = notifyAll(services.metrics)
  const context = workerContext({ ...services, config, onFinal }, FEATURES)
  const { stop } = await startJobs(FEATURES, context)
  return { breakerState: services.ledger.breaker.state, stop }
}
