import { callbacksFeature } from './callbacks/callbacks-feature.ts'
import type { Config } from './config.ts'
import { engineFeature } from './engine/engine-feature.ts'
import type { Feature, WorkerContext } from './engine/feature.ts'
import { breakerGauge } from './ledger/breaker-gauge.ts'
import { type Ledger, openLedger } from './ledger/client.ts'
import { openReference } from './ledger/reference.ts'
import { openSlots } from './ledger/slots.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { operationsFeature } from './operations/operations-feature.ts'
import type { Metrics } from './ops/metrics.ts'
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
  portfolioFeature,
  callbacksFeature,
  engineFeature,
]

/** Every queue, for `migrate` to create. */
export const allQueues = FEATURES.flatMap(({ queues = [] }) => queues)

/** Of the 25 s that a stop may take: the rest is for recording how the last calls ended. */
const CALLS_MAY_FINISH_MS = 18_000

type Services = Pick<WorkerContext, 'db' | 'patient' | 'boss' | 'metrics' | 'watch' | 'log'>

/** `ledgerState` is what readyz says about the ledger. */
export type Worker = { ledgerState(): object; stop(): Promise<void> }

/** Starts every job and gauge. */
export async function startWorker(services: Services, config: Config): Promise<Worker> {
  const ledger = openMeasuredLedger(config, services.metrics)
  const context = contextOf(services, config, ledger)
  const started: Job[] = []
  for (const { jobs = [], gauges = [] } of FEATURES)
    for (const start of [...jobs, ...gauges]) started.push(await start(context))
  return {
    ledgerState: ledger.breaker.state,
    async stop() {
      // This frees whoever waits for the ledger: an operation, the sweep's probe, a dry run.
      const cutOff = setTimeout(() => void ledger.cutOff(), CALLS_MAY_FINISH_MS)
      // All at once: each may wait for calls of its own, and none may begin anything meanwhile.
      await Promise.all(started.map(job => job.stop()))
      clearTimeout(cutOff)
      await ledger.close()
    },
  }
}

function openMeasuredLedger(config: Config, metrics: Metrics): Ledger {
  const ledger = openLedger(config)
  ledger.onAnswer(({ method, status, outcome }) =>
    metrics.ledgerAnswers.inc({ method, status: status ?? 'none', outcome }),
  )
  breakerGauge(metrics.registry, ledger.breaker)
  return ledger
}

function contextOf(services: Services, config: Config, ledger: Ledger): WorkerContext {
  const { db, metrics } = services
  const catalogue = operationCatalogue(config.lenders)
  const own = FEATURES.flatMap(({ operations }) => operations?.(db, config) ?? [])
  return {
    ...services,
    config,
    ledger,
    reference: openReference(ledger, config),
    slots: openSlots(config.LEDGER_CONCURRENCY),
    catalogue,
    runnable: new Map([
      ...catalogue,
      ...own.map(operation => [operation.name, operation] as const),
    ]),
    async onFinal(trx, ended) {
      for (const feature of FEATURES) await feature.onFinal?.(trx, ended, metrics)
    },
    async onPurge(patient, retentionDays) {
      for (const feature of FEATURES) await feature.onPurge?.(patient, retentionDays)
    },
  }
}
