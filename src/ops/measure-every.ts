import type { Log } from '../log/log.ts'
import type { Job } from '../queue/job.ts'
import { startLoop } from '../queue/loop.ts'

/** The usual interval of Prometheus. More frequent scrapes do not query the database more often. */
const EVERY_MS = 15_000
/** A process that starts has more urgent work than to count a backlog. */
const FIRST_AFTER_MS = 2_000

/** While the database is unavailable, gauges keep their last values. */
export function measureEvery(
  refresh: () => Promise<void>,
  log: Pick<Log, 'warn'>,
  everyMs = EVERY_MS,
): Job {
  let isStarting = true
  const look = async () => {
    if (isStarting) {
      isStarting = false
      return FIRST_AFTER_MS
    }
    await refresh()
    return everyMs
  }
  return startLoop(look, {
    everyMs,
    onError: error => log.warn({ err: error }, 'gauges could not be refreshed'),
  })
}
