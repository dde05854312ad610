import { backfillFeature } from './books/backfill/backfill-feature.ts'
import { booksFeature } from './books/books-feature.ts'
import { confirmFeature } from './books/confirm/confirm-feature.ts'
import { reconciliationFeature } from './books/reconciliation/reconciliation-feature.ts'
import { callbacksFeature } from './callbacks/callbacks-feature.ts'
import type { Config } from './config/config.ts'
import { consoleFeature } from './console/console-feature.ts'
import { engineFeature } from './engine/engine-feature.ts'
import type { Feature, WorkerContext } from './engine/feature.ts'
import type { OnFinal } from './engine/finish.ts'
import { openReference } from './ledger/reference.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { operationsFeature } from './operations/operations-feature.ts'
import type { Metrics } from './ops/metrics.ts'
import { paymentsFeature } from './payments/payments-feature.ts'
import { portfolioFeature } from './portfolio/portfolio-feature.ts'
import type { Job } from './queue/job.ts'

/**
 * Everything a worker runs. Features start, and are notified of final operations, in this order. The engine comes last:
 * it runs operations only once the others are ready, and counts an operation as final only after all of them accepted it.
 */
const FEATURES: Feature[] = [
  consoleFeature,
  operationsFeature,
  paymentsFeature,
  booksFeature,
  portfolioFeature,
  backfillFeature,
  reconciliationFeature,
  confirmFeature,
  callbacksFeature,
  engineFeature,
]

/** Every queue, for `migrate` to create. */
export const allQueues = FEATURES.flatMap(({ queues = [] }) => queues)

/** Every feature's listener, in their order. */
export function tellFeatures(metrics: Metrics): OnFinal {
  return async (trx, final) => {
    for (const feature of FEATURES) await feature.onFinal?.(trx, final, metrics)
  }
}

type Services = Pick<
  WorkerContext,
  'db' | 'patient' | 'boss' | 'metrics' | 'watch' | 'traces' | 'log' | 'ledger' | 'slots' | 'pauses'
>

/** `ledgerState` is what readyz reports about the ledger. */
export type Worker = { ledgerState(): object; stop(): Promise<void> }

/** Starts every job and gauge. If one fails to start, stops the others. */
export async function startWorker(services: Services, config: Config): Promise<Worker> {
  const context = contextOf(services, config)
  const started: Job[] = []
  try {
    for (const { jobs = [], gauges = [] } of FEATURES)
      for (const start of [...jobs, ...gauges]) started.push(await start(context))
  } catch (error) {
    await stop()
    throw error
  }
  return { ledgerState: services.ledger.breaker.state, stop }

  async function stop() {
    // In parallel: each may wait for its own calls, and none may start anything new in the meantime.
    await Promise.all(started.map(job => job.stop()))
  }
}

function contextOf(services: Services, config: Config): WorkerContext {
  const { db, metrics, ledger } = services
  const catalogue = operationCatalogue(config.lenders)
  const own = FEATURES.flatMap(({ operations }) => operations?.(db, config) ?? [])
  const context: WorkerContext = {
    ...services,
    config,
    reference: openReference(ledger, config),
    catalogue,
    runnable: new Map([
      ...catalogue,
      ...own.map(operation => [operation.name, operation] as const),
    ]),
    onFinal: tellFeatures(metrics),
    async onPurge(patient, keepDays) {
      const purged = {}
      for (const feature of FEATURES)
        Object.assign(purged, await feature.onPurge?.(patient, keepDays))
      return purged
    },
    async onBatch(run) {
      let changed = 0
      for (const feature of FEATURES) changed += (await feature.onBatch?.(context, run)) ?? 0
      return changed
    },
  }
  return context
}
