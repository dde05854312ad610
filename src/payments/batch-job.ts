import type { PgBoss } from 'pg-boss'
import type { Config } from '../config.ts'
import { crashPoint } from '../crash-point.ts'
import type { Databases } from '../database/database.ts'
import { openNap } from '../queue/nap.ts'
import { work } from '../queue/queue.ts'
import { claimBatch } from './batch-claim.ts'
import { batchQueue } from './queue.ts'
import { requestBatch } from './request-batch.ts'
import { type BatchContext, runBatch } from './run-batch.ts'

/** A dead worker sends no signal: with the lease of 10 s, its run continues within 12 s. */
const LOOK_EVERY_MS = 2_000

export type BatchOptions = Pick<BatchContext, 'log' | 'onStage' | 'productOf'> &
  Pick<Config, 'REPAYMENT_CRON' | 'LEDGER_TIMEZONE'>

/** Runs batches on schedule and on demand. */
export async function workBatches(
  { db, patient }: Databases,
  boss: PgBoss,
  options: BatchOptions,
): Promise<{ stop(): Promise<void> }> {
  const nap = openNap()
  let isStopping = false
  const context: BatchContext = { db, patient, boss, ...options, isStopping: () => isStopping }

  await work(boss, batchQueue, async jobs => {
    if (jobs.some(({ data }) => data?.trigger === 'schedule'))
      await db.transaction().execute(trx => requestBatch(trx, boss, 'schedule'))
    nap.wake()
  })
  await boss.schedule(
    batchQueue.name,
    options.REPAYMENT_CRON,
    { trigger: 'schedule' },
    { tz: options.LEDGER_TIMEZONE },
  )
  const running = run()
  return {
    async stop() {
      isStopping = true
      nap.wake()
      await running
    },
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      const isMore = await runNext().catch(error => {
        options.log.error({ err: error }, 'batch run interrupted; it will continue')
        return false
      })
      if (!isMore) await nap.rest(LOOK_EVERY_MS)
    }
  }

  /** @returns whether a run has ended, so that the next one may be waiting */
  async function runNext(): Promise<boolean> {
    const claim = await claimBatch(db)
    if (claim === undefined) return false
    crashPoint('batch.claimed')
    return runBatch(context, claim)
  }
}
