import type { Feature, WorkerContext } from '../engine/feature.ts'
import { findLoan } from '../ledger/loan-calls.ts'
import type { Job } from '../queue/job.ts'
import { allowNetworks } from './allow-networks.ts'
import { workBatches } from './batch-job.ts'
import { PAYMENT_CRASH_POINTS } from './crash-points.ts'
import { paymentGauges } from './gauges.ts'
import { paymentCounters } from './payment-counters.ts'
import { purgeEvents } from './purge-events.ts'
import { batchQueue, deadEventQueue, eventQueue } from './queue.ts'
import { recordPostings } from './record-postings.ts'
import { repayment } from './repayment.ts'
import { workEvents } from './save-events.ts'
import { takeConfirming } from './take-confirming.ts'

export const paymentsFeature: Feature = {
  // The dead letters' queue before the one that names it.
  queues: [deadEventQueue, eventQueue, batchQueue],
  operations: (db, config) => [repayment(db, config)],
  jobs: [saveEvents, runBatches],
  gauges: [({ metrics, patient, log }) => paymentGauges(metrics.registry, patient, log)],
  counters: paymentCounters,
  crashPoints: PAYMENT_CRASH_POINTS,
  async onPurge(db, { events }) {
    return events === 0 ? {} : { events: await purgeEvents(db, events) }
  },
  onFinal: {
    origins: ['payment'],
    async record(trx, final, metrics) {
      const { overpaid } = await recordPostings(trx, final)
      metrics.of(paymentCounters).overpaidRepayments.inc(overpaid)
    },
  },
}

async function saveEvents({ db, boss, config, metrics, log }: WorkerContext): Promise<Job> {
  await allowNetworks(db, config.lenders)
  await takeConfirming(db, config)
  const { repeatedEvents } = metrics.of(paymentCounters)
  return workEvents(db, boss, {
    onRepeats: (gateway, repeats) => repeatedEvents.inc({ gateway }, repeats),
    log,
  })
}

function runBatches(context: WorkerContext): Promise<Job> {
  const { boss, config, metrics, ledger, slots, traces, onBatch, log } = context
  const { batchSeconds } = metrics.of(paymentCounters)
  return workBatches(context, boss, {
    ...config,
    traces,
    productOf: loan =>
      slots.run('bulk', async () => {
        const found = await findLoan(ledger, loan)
        return found?.loanProductName
      }),
    onBatch,
    onStage: (stage, seconds) => batchSeconds.observe({ stage }, seconds),
    log,
  })
}
