import { isTransient } from './transient.ts'

/** A task is stuck after longer than two tries on dead connections take. */
const STUCK_AFTER_MS = 10_000

type Watched = <T>(work: () => Promise<T>) => Promise<T>

export type Watch = ReturnType<typeof openWatch>

/** Detects a critical task that has stopped making progress. */
export function openWatch(
  stuckAfterMs = STUCK_AFTER_MS,
  onWaited: (name: string, ms: number) => void = () => {},
) {
  const tasks: { name: string; isStuck(): boolean }[] = []
  return {
    /** While a task's tries overlap, the success of one counts for all. */
    over(name: string): Watched {
      const task = watched(stuckAfterMs)
      tasks.push({ name, isStuck: task.isStuck })
      return task.run
    },
    waited: (name: string) => (ms: number) => onWaited(name, ms),
    stuck: (): string[] => tasks.filter(task => task.isStuck()).map(({ name }) => name),
  }
}

function watched(stuckAfterMs: number): { run: Watched; isStuck(): boolean } {
  let underWay = 0
  let triedSince: number | undefined
  let endedAt = Number.NEGATIVE_INFINITY
  // A task that failed and is not retried is not stuck: nobody needs it.
  const isWanted = () => underWay > 0 || performance.now() - endedAt < stuckAfterMs

  return {
    async run(work) {
      if (!isWanted()) triedSince = undefined
      triedSince ??= performance.now()
      underWay++
      try {
        const result = await work()
        triedSince = underWay > 1 ? performance.now() : undefined
        return result
      } catch (error) {
        // A permanent error is an answer too: the database is there.
        if (!isTransient(error)) triedSince = undefined
        throw error
      } finally {
        underWay--
        endedAt = performance.now()
      }
    },
    isStuck: () =>
      triedSince !== undefined && performance.now() - triedSince > stuckAfterMs && isWanted(),
  }
}
