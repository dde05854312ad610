import type { Feature, WorkerContext } from '../engine/feature.ts'
import type { Job } from '../queue/job.ts'
import { migrationKinds, migrationOperations } from './kinds/kinds.ts'
import { rowCounters } from './run/row-counters.ts'
import { finishRows } from './run/rows-final.ts'
import { workMigrations } from './run/work-migrations.ts'

export const portfolioFeature: Feature = {
  operations: () => [...migrationOperations().values()],
  jobs: [runMigrations],
  counters: rowCounters,
  onFinal: {
    origins: ['migration'],
    async record(trx, final, metrics) {
      const { finished } = metrics.of(rowCounters)
      for (const [state, count] of await finishRows(trx, final)) finished.inc({ state }, count)
    },
  },
}

function runMigrations(context: WorkerContext): Job {
  const { boss, config, catalogue, log } = context
  const kinds = migrationKinds(catalogue)
  return workMigrations(context, boss, { ...context, lenders: config.lenders, kinds }, log)
}
