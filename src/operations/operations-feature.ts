import type { Feature } from '../engine/feature.ts'
import { ledgerFindingsGauge } from './ledger-findings-gauge.ts'
import { purgeOperations } from './purge.ts'

export const operationsFeature: Feature = {
  gauges: [({ metrics, patient, log }) => ledgerFindingsGauge(metrics.registry, patient, log)],
  async onPurge(db, { OPERATION_RETENTION_DAYS: days }) {
    return days === 0 ? {} : { operations: await purgeOperations(db, days) }
  },
}
