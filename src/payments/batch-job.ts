import type { PgBoss } from 'pg-boss'
import type { Config } from '../config/config.ts'
import type { Databases } from '../database/database.ts'
import type { Job } from '../queue/job.ts'
import { workRuns } from '../queue/run-job.ts'
import { batchQueue } from './queue.ts'
import { requestBatch } from './request-batch.ts'
import { type BatchContext, runBatch } from './run-batch.ts'

type BatchOptions = Pick<BatchContext, 'log' | 'traces' | 'onStage' | 'onBatch' | 'productOf'> &
  Pick<Config, 'REPAYMENT_CRON' | 'LEDGER_TIMEZONE'>

export function workBatches(
  databases: Databases,
  boss: PgBoss,
  options: BatchOptions,
): Promise<Job> {
  const { REPAYMENT_CRON, LEDGER_TIMEZONE, ...context } = options
  return workRuns(databases, boss, {
    table: 'core.batch_run',
    queue: batchQueue,
    cron: REPAYMENT_CRON,
    timeZone: LEDGER_TIMEZONE,
    request: trx => requestBatch(trx, boss, 'schedule'),
    run: run => runBatch({ ...databases, boss, ...context }, run),
    log: options.log,
  })
}
