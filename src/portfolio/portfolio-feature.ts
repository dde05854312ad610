import { Counter, type Registry } from 'prom-client'
import type { Feature } from '../engine/feature.ts'
import { migrationOperations } from './kinds/kinds.ts'
import { finishRows } from './run/finish-rows.ts'

function rowCounters(registers: Registry[]) {
  return {
    finished: new Counter({
      name: 'loanops_migration_rows_total',
      help: 'Finished rows of uploaded portfolios, by state',
      labelNames: ['state'],
      registers,
    }),
  }
}

export const portfolioFeature: Feature = {
  operations: () => [...migrationOperations().values()],
  counters: rowCounters,
  onFinal: {
    origins: ['migration'],
    async record(trx, final, metrics) {
      const rows = await finishRows(trx, final)
      return () => {
        const { finished } = metrics.of(rowCounters)
        for (const [state, count] of rows) finished.inc({ state }, count)
      }
    },
  },
}
