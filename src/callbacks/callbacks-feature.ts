import type { Feature, WorkerContext } from '../engine/feature.ts'
import type { Job } from '../queue/job.ts'
import { callbackCounters } from './callback-counters.ts'
import { callbackGauges } from './callback-gauges.ts'
import { callbackReport } from './callback-report.ts'
import { chooseTypes } from './choose-types.ts'
import { CALLBACK_CRASH_POINTS } from './crash-points.ts'
import { deliverCallbacks } from './deliver-callbacks.ts'
import { purgeCallbacks } from './purge-callbacks.ts'

/** Triggers in the database record what must be reported, in the transaction in which it becomes true. */
export const callbacksFeature: Feature = {
  jobs: [deliver],
  gauges: [({ metrics, patient, log }) => callbackGauges(metrics.registry, patient, log)],
  counters: callbackCounters,
  report: callbackReport,
  crashPoints: CALLBACK_CRASH_POINTS,
  async onPurge(db, { operations }) {
    return operations === 0 ? {} : { callbacks: await purgeCallbacks(db, operations) }
  },
}

async function deliver({ db, config, metrics, traces, log }: WorkerContext): Promise<Job> {
  await chooseTypes(db, config.callbacks)
  if (config.callbacks === undefined) return { stop() {} }
  const { attempts } = metrics.of(callbackCounters)
  return deliverCallbacks(db, config.callbacks, {
    traces,
    log,
    onResult: outcome => attempts.inc({ outcome }),
  })
}
