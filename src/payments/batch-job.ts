import type { PgBoss } from 'pg-boss'
import type { Config } from '../config/config.ts'
import { crashPoint } from '../crash-point.ts'
import type { Databases } from '../database/database.ts'
import type { Job } from '../queue/job.ts'
import { startLoop } from '../queue/loop.ts'
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
): Promise<Job> {
  await boss.schedule(
    batchQueue.name,
    options.REPAYMENT_CRON,
    { trigger: 'schedule' },
    { tz: options.LEDGER_TIMEZONE },
  )
  const loop = startLoop(async stopping => ((await runNext(stopping)) ? 0 : LOOK_EVERY_MS), {
    everyMs: LOOK_EVERY_MS,
    onError: error => options.log.error({ err: error }, 'a batch run broke off; it will go on'),
  })
  const waking = await work(boss, batchQueue, async jobs => {
    if (jobs.some(({ data }) => data?.trigger === 'schedule'))
      await db.transaction().execute(trx => requestBatch(trx, boss, 'schedule'))
    loop.wake()
  })
  return {
    async stop() {
      await Promise.all([loop.stop(), waking.stop()])
    },
  }

  /** @returns whether one was ended, and another may wait */
  async function runNext(stopping: AbortSignal): Promise<boolean> {
    const claim = await claimBatch(db)
    if (claim === undefined) return false
    crashPoint('batch.claimed')
    const isStopping = () => stopping.aborted
    return runBatch({ db, patient, boss, ...options, isStopping }, claim)
  }
}
