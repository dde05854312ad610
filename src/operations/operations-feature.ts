import type { Feature } from '../engine/feature.ts'
import { ledgerFindingsGauges } from './ledger-findings-gauges.ts'
import { purgeOperations } from './purge.ts'

export const operationsFeature: Feature = {
  gauges: [ledgerFindingsGauges],
  async onPurge(db, { OPERATION_RETENTION_DAYS: days }) {
    return days === 0 ? {} : { operations: await purgeOperations(db, days) }
  },
}
