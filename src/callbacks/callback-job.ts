import type { WorkerContext } from '../engine/feature.ts'
import type { Job } from '../queue/job.ts'
import { callbackCounters } from './callbacks-feature.ts'
import { copyTypes } from './copy-types.ts'
import { deliverCallbacks } from './sending/deliver-callbacks.ts'

export async function runCallbacks({
  db,
  config,
  metrics,
  traces,
  log,
}: WorkerContext): Promise<Job> {
  await copyTypes(db, config.callbacks)
  if (config.callbacks === undefined) return { stop() {} }
  const { attempts } = metrics.of(callbackCounters)
  return deliverCallbacks(db, config.callbacks, {
    traces,
    log,
    onResult: outcome => attempts.inc({ outcome }),
  })
}
