import type { Job } from './job.ts'

/** The largest share of its time a loop may spend looking. */
const MAX_SHARE_OF_TIME = 0.1

type Loop = Job & {
  /** Ends the current rest, or skips the next one. */
  wake(): void
}

/**
 * @param look returns how many milliseconds to rest; after 0 it looks again at once @param everyMs how long
 * to rest after a look that failed: its cause will not go away at once
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

/** At least `everyMs`, and longer after a longer look. */
export function restAfter(startedAt: number, everyMs: number): number {
  return Math.max(everyMs, (performance.now() - startedAt) / MAX_SHARE_OF_TIME)
}
