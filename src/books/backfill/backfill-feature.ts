import type { Feature } from '../../engine/feature.ts'
import { backfillCounters } from './backfill-counters.ts'
import { backfillGauges } from './backfill-gauges.ts'
import { workBackfills } from './backfill-job.ts'
import { BACKFILL_CRASH_POINTS } from './crash-points.ts'
import { backfillQueue } from './queue.ts'

/** Fetches from the gateways what their webhooks did not bring. */
export const backfillFeature: Feature = {
  queues: [backfillQueue],
  jobs: [workBackfills],
  gauges: [({ metrics, patient, log }) => backfillGauges(metrics.registry, patient, log)],
  counters: backfillCounters,
  crashPoints: BACKFILL_CRASH_POINTS,
}
