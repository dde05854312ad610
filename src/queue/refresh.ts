import type { Job } from './job.ts'

/** The usual interval of Prometheus. More frequent scrapes do not query the database more often. */
const EVERY_MS = 15_000

/** Refreshes what is measured, now and at intervals, one refresh at a time. */
export function startRefresh(
  refresh: () => Promise<void>,
  { onError, everyMs = EVERY_MS }: { onError(error: unknown): void; everyMs?: number },
): Job {
  let isUnderWay = false
  void again()
  const timer = setInterval(again, everyMs).unref()
  return { stop: () => clearInterval(timer) }

  async function again(): Promise<void> {
    if (isUnderWay) return
    isUnderWay = true
    await refresh().catch(onError)
    isUnderWay = false
  }
}
