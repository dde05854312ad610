import type { PgBoss } from 'pg-boss'
import type { Config } from '../config.ts'
import { crashPoint } from '../crash-point.ts'
import type { Database } from '../database.ts'
import { insertJobs, work } from '../queue.ts'
import { busyUntil, claimBatch } from './batch-claim.ts'
import { batchQueue } from './queue.ts'
import { requestBatch } from './request-batch.ts'
import { type BatchContext, runBatch } from './run-batch.ts'

/** One run at a time is the rule; more loops would only wait. */
const LOOPS = 1
/** A lease that has just run out is looked at a moment later, not at the same moment. */
const AFTER_LEASE_MS = 1_000

export type BatchOptions = Pick<BatchContext, 'log' | 'onStage'> &
  Pick<Config, 'REPAYMENT_CRON' | 'LEDGER_TIMEZONE'>

/** Runs batches, on the schedule and on demand. */
export async function workBatches(
  db: Database,
  boss: PgBoss,
  options: BatchOptions,
): Promise<{ stop(): Promise<void> }> {
  let isStopping = false
  let underWay: Promise<void> = Promise.resolve()
  const context: BatchContext = { db, boss, ...options, isStopping: () => isStopping }

  await work(boss, batchQueue, LOOPS, async jobs => {
    underWay = handle(jobs.some(({ data }) => data?.trigger === 'schedule'))
    await underWay
  })
  await boss.schedule(
    batchQueue.name,
    options.REPAYMENT_CRON,
    { trigger: 'schedule' },
    { tz: options.LEDGER_TIMEZONE },
  )
  return {
    async stop() {
      isStopping = true
      await underWay.catch(() => undefined)
    },
  }

  async function handle(isDue: boolean): Promise<void> {
    if (isDue) await db.transaction().execute(trx => requestBatch(trx, boss, 'schedule'))
    for (;;) {
      const claim = isStopping ? undefined : await claimBatch(db)
      if (claim === undefined) break
      crashPoint('batch.claimed')
      if (!(await runBatch(context, claim))) break
    }
    await lookAgainLater()
  }

  /** Whoever runs a batch goes on to the next; should it die, somebody has to notice. */
  async function lookAgainLater(): Promise<void> {
    const until = await busyUntil(db)
    if (until === null) return
    const startAfter = new Date(until.getTime() + AFTER_LEASE_MS)
    await db
      .transaction()
      .execute(trx => insertJobs(boss, trx, batchQueue, [{ data: {}, startAfter }]))
  }
}
