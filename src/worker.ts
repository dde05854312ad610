import { callbacksFeature } from './callbacks/callbacks-feature.ts'
import type { Config } from './config/config.ts'
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
 * Everything a worker runs. Features start, and are notified of final operations, in this order. The engine comes last:
 * it runs operations only once the others are ready, and counts an operation as final only after all of them accepted it.
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

/** Out of the 25 s that a stop may take; the rest is for recording the outcomes of the last calls. */
const CALLS_MAY_FINISH_MS = 18_000

type Services = Pick<
  WorkerContext,
  'db' | 'patient' | 'boss' | 'metrics' | 'watch' | 'traces' | 'log'
>

/** `ledgerState` is what readyz reports about the ledger. */
export type Worker = { ledgerState(): object; stop(): Promise<void> }

/** Starts every job and gauge. If one fails to start, stops the others. */
export async function startWorker(services: Services, config: Config): Promise<Worker> {
  const ledger = openMeasuredLedger(config, services.metrics)
  const context = contextOf(services, config, ledger)
  const started: Job[] = []
  try {
    for (const { jobs = [], gauges = [] } of FEATURES)
      for (const start of [...jobs, ...gauges]) started.push(await start(context))
  } catch (error) {
    await stop()
    throw error
  }
  return { ledgerState: ledger.breaker.state, stop }

  async function stop() {
    // Ends every wait for the ledger: of an operation, of the sweep's probe, of a dry run.
    const cutOff = setTimeout(() => void ledger.cutOff(), CALLS_MAY_FINISH_MS)
    // In parallel: each may wait for its own calls, and none may start anything new in the meantime.
    await Promise.all(started.map(job => job.stop()))
    clearTimeout(cutOff)
    await ledger.close()
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
