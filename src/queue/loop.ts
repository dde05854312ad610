import type { Job } from './job.ts'

/** However long a look takes, looks take at most this part of the time. */
const PART_OF_TIME = 0.1

export type Loop = Job & {
  /** Ends the rest, or skips the next one. */
  wake(): void
}

/**
 * Looks for work, then rests until the next look is due, somebody wakes it, or it is stopped.
 * @param look returns for how many milliseconds to rest; 0 looks again at once
 * @param everyMs how long to rest after a look that failed: what ails it takes more than a moment
 */
export function startLoop(
  look: (stopping: AbortSignal) => Promise<number>,
  { everyMs, onError }: { everyMs: number; onError(error: unknown): void },
): Loop {
  const stopping = new AbortController()
  let isWoken = false
  let endRest = () => {}
  const running = run(stopping.signal)

  return {
    wake,
    async stop() {
      stopping.abort()
      wake()
      await running
    },
  }

  function wake() {
    isWoken = true
    endRest()
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const restMs = await look(signal).catch(error => {
        onError(error)
        return everyMs
      })
      if (restMs > 0) await rest(restMs)
    }
  }

  async function rest(ms: number): Promise<void> {
    if (!isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      endRest = resolve
      await promise
      clearTimeout(timer)
    }
    isWoken = false
  }
}

/** For a look that may take long: rests at least `everyMs`, and longer the longer the look took. */
export function restAfter(startedAt: number, everyMs: number): number {
  return Math.max(everyMs, (performance.now() - startedAt) / PART_OF_TIME)
}
