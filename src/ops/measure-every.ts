import type { Job } from '../queue/job.ts'

/** The usual interval of Prometheus. More frequent scrapes do not query the database more often. */
const EVERY_MS = 15_000

/** Refreshes gauges at intervals; while the database is unavailable, they keep their last values. */
export function measureEvery(
  refresh: () => Promise<void>,
  log: { warn(object: object, message: string): void },
  everyMs = EVERY_MS,
): Job {
  let isUnderWay = false
  void measure()
  const timer = setInterval(measure, everyMs).unref()
  return { stop: () => clearInterval(timer) }

  async function measure(): Promise<void> {
    if (isUnderWay) return
    isUnderWay = true
    await refresh().catch(error => log.warn({ err: error }, 'gauges could not be refreshed'))
    isUnderWay = false
  }
}
