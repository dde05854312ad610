import type { Metrics } from '../../ops/metrics.ts'
import { readbackCounters } from './readback-counters.ts'
import type { FindingCounts } from './record-findings.ts'

export function countFound(metrics: Pick<Metrics, 'of'>) {
  const { found } = metrics.of(readbackCounters)
  return ({ reversed, missing, differing }: FindingCounts): void => {
    found.inc({ finding: 'reversed' }, reversed)
    found.inc({ finding: 'missing' }, missing)
    found.inc({ finding: 'differing' }, differing)
  }
}
