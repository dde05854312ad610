import type { Job } from '../queue/job.ts'
import type { Feature, WorkerContext } from './feature.ts'

/** Starts all jobs or none: nobody would stop the jobs of a worker that did not start. */
export async function startJobs(features: Feature[], context: WorkerContext): Promise<Job> {
  const started: Job[] = []
  try {
    for (const { jobs = [], gauges = [] } of features)
      for (const start of [...jobs, ...gauges]) started.push(await start(context))
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }

  async function stop() {
    // The jobs stop in parallel: each may wait for its own calls, and none may start anything new in the meantime.
    await Promise.all(started.map(job => job.stop()))
  }
}
