import { booksFeature } from './books/books-feature.ts'
import type { Config } from './config.ts'
import { engineFeature } from './engine/engine-feature.ts'
import type { Feature, WorkerContext } from './engine/feature.ts'
import { openReference } from './ledger/reference.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { operationsFeature } from './operations/operations-feature.ts'
import { paymentsFeature } from './payments/payments-feature.ts'
import { portfolioFeature } from './portfolio/portfolio-feature.ts'
import type { Job } from './queue/job.ts'

/**
 * What a worker does: features start, and hear of final operations, in this order. The engine comes last: it runs
 * operations once the others are prepared for them, and counts as final only what none of them objected to.
 */
const FEATURES: Feature[] = [
  operationsFeature,
  paymentsFeature,
  booksFeature,
  portfolioFeature,
  engineFeature,
]

/** Every queue, for `migrate` to create. */
export const allQueues = FEATURES.flatMap(({ queues = [] }) => queues)

type Services = Pick<
  WorkerContext,
  'db' | 'patient' | 'boss' | 'metrics' | 'watch' | 'log' | 'ledger' | 'slots'
>

/** `ledgerState` is what readyz says about the ledger. */
export type Worker = { ledgerState(): object; stop(): Promise<void> }

/** Starts every job and gauge. */
export async function startWorker(services: Services, config: Config): Promise<Worker> {
  const context = contextOf(services, config)
  const started: Job[] = []
  for (const { jobs = [], gauges = [] } of FEATURES)
    for (const start of [...jobs, ...gauges]) started.push(await start(context))
  return {
    ledgerState: services.ledger.breaker.state,
    async stop() {
      // All at once: each may wait for calls of its own, and none may begin anything meanwhile.
      await Promise.all(started.map(job => job.stop()))
    },
  }
}

function contextOf(services: Services, config: Config): WorkerContext {
  const { db, metrics, ledger } = services
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
    async onFinal(trx, ended) {
      for (const feature of FEATURES) await feature.onFinal?.(trx, ended, metrics)
    },
  }
}
