import type { WorkerContext } from '../../engine/feature.ts'
import type { Job } from '../../queue/job.ts'
import { requestRun } from '../../queue/request-run.ts'
import { claimRun } from '../../queue/run-claim.ts'
import { workRuns } from '../../queue/run-job.ts'
import { readbackQueue } from './queue.ts'
import { countFound } from './readback-feature.ts'
import { runReadback } from './run-readback.ts'

export function runReadbacks(context: WorkerContext): Promise<Job> {
  const { boss, config, metrics, log } = context
  const runs = { table: 'core.readback_run', queue: readbackQueue } as const
  const readback = { ...context, ...config, onFound: countFound(metrics) }
  return workRuns(context, boss, {
    ...runs,
    cron: config.RECONCILE_CRON,
    timeZone: config.LEDGER_TIMEZONE,
    keys: [null],
    claim: () => claimRun(context.db, runs.table),
    request: trx => requestRun(trx, boss, runs, 'schedule'),
    run: run => runReadback(readback, run),
    log,
  })
}
