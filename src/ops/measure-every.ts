import { asWarning, type Log } from '../log/log.ts'
import { type Job, startLoop } from '../queue/job.ts'

/** The usual interval of Prometheus. More frequent scrapes do not query the database more often. */
const EVERY_MS = 15_000
/** A process that starts has more urgent work than to count a backlog. */
const FIRST_AFTER_MS = 2_000
/** A database that restarts, or fails over, is back sooner. Older figures would pass for today's. */
const MAX_ROUNDS_MISSED = 8

type Figures = {
  refresh(): Promise<void>
  /** Leaves the figures out of later scrapes, until they are refreshed. */
  forget(): void
}

export function measureEvery(
  { refresh, forget }: Figures,
  log: Pick<Log, 'warn'>,
  everyMs = EVERY_MS,
): Job {
  // Until the first round, a gauge without labels would show 0.
  forget()
  const tooOld = setTimeout(forget, MAX_ROUNDS_MISSED * everyMs)
  let isStarting = true
  const look = async () => {
    if (isStarting) {
      isStarting = false
      return FIRST_AFTER_MS
    }
    await refresh()
    tooOld.refresh()
    return everyMs
  }
  const onError = asWarning(log, 'gauges could not be refreshed')
  const loop = startLoop({ everyMs, onError }, look)
  return {
    async stop() {
      await loop.stop()
      clearTimeout(tooOld)
    },
  }
}
