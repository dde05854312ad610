import type { FastifyBaseLogger } from 'fastify'
import type { PgBoss } from 'pg-boss'
import type { Config } from './config.ts'
import type { Databases } from './database/database.ts'
import type { Watch } from './database/watch.ts'
import { workOperations } from './engine/job.ts'
import { bulkQueue, liveQueue } from './engine/queue.ts'
import { startRunner } from './engine/runner.ts'
import { breakerGauge } from './ledger/breaker-gauge.ts'
import { openLedger } from './ledger/client.ts'
import { type LedgerLoan, loanPath } from './ledger/loan.ts'
import { lookUp } from './ledger/look-up.ts'
import { openReference } from './ledger/reference.ts'
import { openSlots } from './ledger/slots.ts'
import { operationCatalogue } from './operations/catalogue.ts'
import { workPurge } from './operations/purge-job.ts'
import { purgeQueue, schedulePurge } from './operations/purge-queue.ts'
import type { Metrics } from './ops/metrics.ts'
import { allowNetworks } from './payments/allow-networks.ts'
import { workBatches } from './payments/batch-job.ts'
import { paymentGauges } from './payments/gauges.ts'
import { batchQueue, deadEventQueue, eventQueue } from './payments/queue.ts'
import { recordPostings } from './payments/record-postings.ts'
import { repayment } from './payments/repayment.ts'
import { workEvents } from './payments/save-events.ts'
import { migrationKinds, migrationOperations } from './portfolio/kinds/kinds.ts'
import { settleRows } from './portfolio/run/rows-final.ts'
import { workMigrations } from './portfolio/run/work-migrations.ts'
import type { Queue } from './queue/queue.ts'

/** Every queue, for `migrate` to make. */
export const allQueues: Queue<object>[] = [
  liveQueue,
  bulkQueue,
  // Before the queue whose dead letters it takes.
  deadEventQueue,
  eventQueue,
  batchQueue,
  purgeQueue,
]

/** Of the 25 s that a stop may take: the rest is for keeping how the last calls ended. */
const CALLS_MAY_FINISH_MS = 18_000

/** `ledgerState` is what readyz tells of the ledger. */
export type Worker = { ledgerState(): object; stop(): Promise<void> }

/** Starts every job. */
export async function startWorker(
  databases: Databases,
  boss: PgBoss,
  config: Config,
  metrics: Metrics,
  watch: Watch,
  log: FastifyBaseLogger,
): Promise<Worker> {
  const { db, patient } = databases
  const ledger = openLedger(config)
  ledger.onAnswer(({ method, status, outcome }) =>
    metrics.ledgerAnswers.inc({ method, status: status ?? 'none', outcome }),
  )
  breakerGauge(metrics.registry, ledger.breaker)
  const repaymentOperation = repayment(db, config)
  const reference = openReference(ledger, config)
  const slots = openSlots(config.LEDGER_CONCURRENCY)
  const catalogue = operationCatalogue(config.lenders)
  const runner = startRunner(db, boss, {
    ledger,
    reference,
    slots,
    watch,
    catalogue: new Map([
      ...catalogue,
      [repaymentOperation.name, repaymentOperation],
      ...migrationOperations(),
    ]),
    deadlineSeconds: config.OPERATION_DEADLINE_SECONDS,
    async whenFinal(trx, ended) {
      const { overpaid } = await recordPostings(trx, ended)
      metrics.overpaidRepayments.inc(overpaid)
      for (const [state, count] of await settleRows(trx, ended))
        metrics.migrationRows.inc({ state }, count)
      for (const { claim, ending } of ended) {
        metrics.operations.inc({ operation_type: claim.operationType, status: ending.status })
      }
    },
    log,
  })
  await allowNetworks(db, config.lenders)
  await workOperations(boss, liveQueue, runner)
  await workOperations(boss, bulkQueue, runner)
  await schedulePurge(boss, config)
  await workPurge(patient, boss, { retentionDays: config.OPERATION_RETENTION_DAYS, log })
  await workEvents(db, boss, {
    onRepeats: (gateway, repeats) => metrics.repeatedEvents.inc({ gateway }, repeats),
    log,
  })
  const batches = await workBatches(databases, boss, {
    ...config,
    productOf: loan =>
      slots.run('bulk', async () => {
        const found = await lookUp<LedgerLoan>(ledger, loanPath(loan))
        return found?.loanProductName
      }),
    onStage: (stage, seconds) => metrics.batchSeconds.observe({ stage }, seconds),
    log,
  })
  const gauges = paymentGauges(metrics.registry, patient, log)
  const { lenders } = config
  const kinds = migrationKinds(catalogue)
  const looker = { ledger, reference, slots, lenders, catalogue, kinds }
  const migrations = workMigrations(databases, boss, looker, log)
  return {
    ledgerState: ledger.breaker.state,
    async stop() {
      gauges.stop()
      // Whoever waits for the ledger is freed by this: an operation, the sweep's probe, a dry run.
      const cutOff = setTimeout(() => void ledger.cutOff(), CALLS_MAY_FINISH_MS)
      // All at once: each may wait for calls of its own, and none may begin anything meanwhile.
      await Promise.all([runner.stop(), batches.stop(), migrations.stop(), fetchNothing(boss)])
      clearTimeout(cutOff)
      await ledger.close()
    },
  }
}

/** Another worker takes what is not fetched any more; what is fetched already goes back with the runner's rest. */
async function fetchNothing(boss: PgBoss): Promise<void> {
  for (const { name } of allQueues) await boss.offWork(name, { wait: false })
}
