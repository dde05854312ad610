import { type Job, together } from '../queue/job.ts'
import type { Feature, WorkerContext } from './feature.ts'

/** Starts all jobs or none: nobody would stop the jobs of a worker that did not start. */
export async function startJobs(features: Feature[], context: WorkerContext): Promise<Job> {
  const started: Job[] = []
  try {
    for (const { jobs = [], gauges = [] } of features)
      for (const start of [...jobs, ...gauges]) started.push(await start(context))
  } catch (error) {
    await together(started).stop()
    throw error
  }
  return together(started)
}
