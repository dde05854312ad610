import type { Feature } from '../engine/feature.ts'
import { measure } from '../ops/measured.ts'
import { ledgerFindingsGauges } from './ledger-findings-gauges.ts'
import { purgeOperations } from './purge-operations.ts'

export const operationsFeature: Feature = {
  gauges: [measure([ledgerFindingsGauges])],
  async onPurge(db, { OPERATION_RETENTION_DAYS: days }) {
    return days === 0 ? {} : { operations: await purgeOperations(db, days) }
  },
}
