import type { Feature } from '../engine/feature.ts'
import { kinds } from './kinds/kinds.ts'
import { rowCounters } from './row-counters.ts'
import { finishRows } from './run/finish-rows.ts'

export const portfolioFeature: Feature = {
  operations: db => kinds.flatMap(kind => kind.operations?.(db) ?? []),
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
