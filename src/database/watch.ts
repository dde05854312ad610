import { isTransient } from './database.ts'

/** Longer than two tries on connections that turn out to be dead. */
const STUCK_AFTER_MS = 10_000

/** Runs one try of what is watched. */
export type Watched = <T>(work: () => Promise<T>) => Promise<T>

/** Sees that what everything else depends on goes on. */
export type Watch = {
  /** One thing to watch, whose tries do not overlap. */
  over(name: string): Watched
  /** The names of what has been tried for too long without getting anywhere. */
  stuck(): string[]
}

export function openWatch(stuckAfterMs = STUCK_AFTER_MS): Watch {
  const things: { name: string; isStuck(): boolean }[] = []
  return {
    over(name) {
      const thing = watched(stuckAfterMs)
      things.push({ name, isStuck: thing.isStuck })
      return thing.run
    },
    stuck: () => things.filter(thing => thing.isStuck()).map(({ name }) => name),
  }
}

function watched(stuckAfterMs: number): { run: Watched; isStuck(): boolean } {
  let isUnderWay = false
  let triedSince: number | undefined
  let endedAt = Number.NEGATIVE_INFINITY
  // What failed and is not tried again is not stuck: nobody needs it.
  const isWanted = () => isUnderWay || performance.now() - endedAt < stuckAfterMs

  return {
    async run(work) {
      if (!isWanted()) triedSince = undefined
      triedSince ??= performance.now()
      isUnderWay = true
      try {
        const result = await work()
        triedSince = undefined
        return result
      } catch (error) {
        // A refusal is an answer: the database is there.
        if (!isTransient(error)) triedSince = undefined
        throw error
      } finally {
        isUnderWay = false
        endedAt = performance.now()
      }
    },
    isStuck: () =>
      triedSince !== undefined && performance.now() - triedSince > stuckAfterMs && isWanted(),
  }
}
