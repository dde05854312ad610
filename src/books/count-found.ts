import type { Metrics } from '../ops/metrics.ts'
import type { Found } from './record-findings.ts'

/** Counts new findings, whether of a run or of a check. */
export function countFound({ readBack }: Pick<Metrics, 'readBack'>) {
  return ({ reversed, missing, differing }: Found): void => {
    readBack.inc({ finding: 'reversed' }, reversed)
    readBack.inc({ finding: 'missing' }, missing)
    readBack.inc({ finding: 'differing' }, differing)
  }
}
