import type { WorkerContext } from '../../engine/feature.ts'
import { findLoan } from '../../ledger/loans/loan-calls.ts'
import type { Job } from '../../queue/job.ts'
import { claimRun } from '../../queue/run-claim.ts'
import { type Run, workRuns } from '../../queue/run-job.ts'
import { paymentCounters } from '../payment-signals.ts'
import { batchQueue } from '../queue.ts'
import { requestBatch } from './request-batch.ts'
import { runBatch } from './run-batch.ts'

/** Work to do while each batch posts. @returns how many payments it changed, for which the batch posts once more */
type WhilePosting = (context: WorkerContext, run: Run) => Promise<number>

export function runBatches(context: WorkerContext, whilePosting: WhilePosting): Promise<Job> {
  const { boss, config, metrics, ledger, slots, log } = context
  const { batchSeconds } = metrics.of(paymentCounters)
  const batch = {
    ...context,
    whilePosting: (run: Run) => whilePosting(context, run),
    productOf: (loan: string) =>
      slots.run('bulk', async () => {
        const found = await findLoan(ledger, loan)
        return found?.loanProductName
      }),
    ledgerAnswers: () => slots.run('bulk', ledger.probe),
    onStage: (stage: string, seconds: number) => batchSeconds.observe({ stage }, seconds),
  }
  return workRuns(context, boss, {
    table: 'core.batch_run',
    queue: batchQueue,
    cron: config.REPAYMENT_CRON,
    timeZone: config.LEDGER_TIMEZONE,
    keys: [null],
    claim: () => claimRun(context.db, 'core.batch_run'),
    request: trx => requestBatch(trx, boss, 'schedule'),
    run: run => runBatch(batch, run),
    log,
  })
}
