import type { Feature } from '../engine/feature.ts'
import { measure } from '../ops/measured.ts'
import { callbackCounters } from './callback-counters.ts'
import { callbackGauges } from './callback-gauges.ts'
import { callbackReport } from './callback-report.ts'
import { CALLBACK_CRASH_POINTS } from './crash-points.ts'
import { purgeCallbacks } from './purge-callbacks.ts'

/** Triggers in the database record what must be reported, in the transaction in which it becomes true. */
export const callbacksFeature: Feature = {
  gauges: [measure([callbackGauges])],
  counters: callbackCounters,
  report: callbackReport,
  crashPoints: CALLBACK_CRASH_POINTS,
  async onPurge(db, { OPERATION_RETENTION_DAYS: days }) {
    return days === 0 ? {} : { callbacks: await purgeCallbacks(db, days) }
  },
}
