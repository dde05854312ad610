export type Job = { stop(): void | Promise<void> }

/** The jobs stop in parallel: each may wait for its own calls, and none may start anything new in the meantime. */
export const together = (jobs: Job[]): Job => ({
  async stop() {
    await Promise.all(jobs.map(job => job.stop()))
  },
})

/** The largest share of its time that a loop may spend looking. */
const MAX_SHARE_OF_TIME = 0.1

type Loop = Job & { wake(): void }

/** @param look returns the milliseconds to rest, 0 to look again at once; after one that fails or returns nothing, `everyMs` */
export function startLoop(
  { everyMs, onError }: { everyMs: number; onError(error: unknown): void },
  look: (stopping: AbortSignal) => Promise<number | undefined> | Promise<void>,
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
      const restMs = (await look(signal).catch(onError)) ?? everyMs
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

export function restAfter(startedAt: number, everyMs: number, atMostMs = Infinity): number {
  const restMs = (performance.now() - startedAt) / MAX_SHARE_OF_TIME
  return Math.max(everyMs, Math.min(restMs, atMostMs))
}
