import { measure } from '../ops/measured.ts'
import type { Job } from '../queue/job.ts'
import type { Feature, WorkerContext } from './feature.ts'

/** Starts all or none: nobody would stop the jobs of a worker that did not start. */
export async function startJobs(features: Feature[], context: WorkerContext): Promise<Job> {
  const { metrics, patient: db, log } = context
  const started: Job[] = []
  try {
    for (const { jobs = [], gauges = [] } of features) {
      for (const start of jobs) started.push(await start(context))
      if (gauges.length > 0) started.push(measure(gauges, { registry: metrics.registry, db, log }))
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }

  async function stop() {
    // In parallel: each may wait for its own calls, and none may start anything new in the meantime.
    await Promise.all(started.map(job => job.stop()))
  }
}
