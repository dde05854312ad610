import { isTransient } from './database.ts'
import { Unavailable } from './unavailable.ts'

/** More would only make one transaction longer: beyond this PostgreSQL's time per row no longer falls. */
const MAX_PER_COMMIT = 256
/** What may wait for a commit. Beyond it callers are told to come again instead of piling up in memory. */
const MAX_WAITING = 5_000
/** Gateways give up after five seconds: we answer 503 before that, so that the caller knows to come again. */
export const CALLERS_PATIENCE_MS = 4_000

type Waiting<In, Out> = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void }

export type GroupCommit<In, Out> = {
  /**
   * Resolves once the item's group is committed.
   * @throws Unavailable when too much waits already, or the database is too slow; then it may be committed after all
   */
  submit(item: In): Promise<Out>
}

/**
 * Lets items that arrive while a commit is in flight share the next one.
 * A group that fails is committed again item by item, so that a poisoned one never fails its neighbours.
 * @param commit keeps all items in one transaction and answers one result per item, in order
 * @param patienceMs how long a caller waits at most; without it, as long as it takes
 */
export function groupCommit<In, Out>(
  commit: (items: In[]) => Promise<Out[]>,
  patienceMs?: number,
): GroupCommit<In, Out> {
  let waiting: Waiting<In, Out>[] = []
  // One at a time makes the largest groups, and each commit costs as much as several rows.
  let isCommitting = false

  return {
    submit(item) {
      if (waiting.length >= MAX_WAITING)
        return Promise.reject(new Unavailable('too much is waiting'))
      return inTime(patienceMs, (resolve, reject) => {
        waiting.push({ item, resolve, reject })
        // Requests that are read in the same turn of the event loop go into one group.
        if (waiting.length === 1) setImmediate(commitNext)
      })
    },
  }

  async function commitNext(): Promise<void> {
    if (isCommitting || waiting.length === 0) return
    const group = waiting.slice(0, MAX_PER_COMMIT)
    waiting = waiting.slice(MAX_PER_COMMIT)
    isCommitting = true
    await commitGroup(group)
    isCommitting = false
    if (waiting.length > 0) void commitNext()
  }

  async function commitGroup(group: Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await commit(group.map(({ item }) => item))
      for (const [i, { resolve }] of group.entries()) resolve(results[i] as Out)
    } catch (error) {
      const isEachToBlame = group.length === 1 || isTransient(error)
      for (const one of group) isEachToBlame ? one.reject(error) : await commitGroup([one])
    }
  }
}

function inTime<T>(
  ms: number | undefined,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  start(resolve, reject)
  if (ms === undefined) return promise
  const timer = setTimeout(() => reject(new Unavailable('the database is slow')), ms)
  const stopTimer = () => clearTimeout(timer)
  promise.then(stopTimer, stopTimer)
  return promise
}
