import type { PgBoss } from 'pg-boss'
import type { Config } from '../config.ts'
import { crashPoint } from '../crash-point.ts'
import type { Databases } from '../database/database.ts'
import type { Job } from '../queue/job.ts'
import { openNap } from '../queue/nap.ts'
import { work } from '../queue/queue.ts'
import { claimBatch } from './batch-claim.ts'
import { batchQueue } from './queue.ts'
import { requestBatch } from './request-batch.ts'
import { type BatchContext, runBatch } from './run-batch.ts'

/** Nobody tells that a worker died: with the lease of 10 s, its run goes on within 12. */
const LOOK_EVERY_MS = 2_000

export type BatchOptions = Pick<BatchContext, 'log' | 'onStage' | 'productOf'> &
  Pick<Config, 'REPAYMENT_CRON' | 'LEDGER_TIMEZONE'>

/** Runs batches, on the schedule and on demand. */
export async function workBatches(
  { db, patient }: Databases,
  boss: PgBoss,
  options: BatchOptions,
): Promise<Job> {
  const nap = openNap()
  let isStopping = false
  const context: BatchContext = { db, patient, boss, ...options, isStopping: () => isStopping }

  const waking = await work(boss, batchQueue, async jobs => {
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
      await Promise.all([running, waking.stop()])
    },
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      const isMore = await runNext().catch(error => {
        options.log.error({ err: error }, 'a batch run broke off; it will go on')
        return false
      })
      if (!isMore) await nap.rest(LOOK_EVERY_MS)
    }
  }

  /** @returns whether one was ended, and another may wait */
  async function runNext(): Promise<boolean> {
    const claim = await claimBatch(db)
    if (claim === undefined) return false
    crashPoint('batch.claimed')
    return runBatch(context, claim)
  }
}
