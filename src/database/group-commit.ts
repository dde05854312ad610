import { isTransient } from './database.ts'
import { Unavailable } from './unavailable.ts'

/** PostgreSQL's time per row no longer falls beyond this: a larger group would only make the transaction longer. */
const MAX_PER_COMMIT = 256
/** How many items may wait for a commit. Beyond this, callers are asked to retry instead of piling up in memory. */
const MAX_WAITING = 5_000
/** Gateways give up after five seconds: we answer 503 before that, so that they retry. */
export const CALLERS_PATIENCE_MS = 4_000

type Waiting<In, Out> = {
  item: In
  since: number
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

export type GroupCommit<In, Out> = {
  /**
   * Resolves once the item's group is committed.
   * @throws Unavailable if too many items are waiting, or the database is too slow; the item may still be committed then
   */
  submit(item: In): Promise<Out>
}

/**
 * Lets items that arrive while a commit is in flight share the next one.
 * If a group fails, its items are committed one by one, so that a poisoned item never fails its neighbours.
 * @param commit stores all items in one transaction and returns one result per item, in order
 * @param patienceMs how long a caller waits at most; by default, as long as it takes
 * @param onWaited receives how long the first item of each group waited until it was committed
 */
export function groupCommit<In, Out>(
  commit: (items: In[]) => Promise<Out[]>,
  patienceMs?: number,
  onWaited: (ms: number) => void = () => {},
): GroupCommit<In, Out> {
  let waiting: Waiting<In, Out>[] = []
  // One commit at a time makes the largest groups, and a commit costs as much as several rows.
  let isCommitting = false

  return {
    submit(item) {
      if (waiting.length >= MAX_WAITING)
        return Promise.reject(new Unavailable('too many requests are waiting'))
      return inTime(patienceMs, (resolve, reject) => {
        waiting.push({ item, since: performance.now(), resolve, reject })
        // Requests read in the same turn of the event loop share a group.
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
    onWaited(performance.now() - (group[0] as Waiting<In, Out>).since)
    isCommitting = false
    if (waiting.length > 0) void commitNext()
  }

  async function commitGroup(group: Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await commit(group.map(({ item }) => item))
      for (const [i, { resolve }] of group.entries()) resolve(results[i] as Out)
    } catch (error) {
      const rejectAll = group.length === 1 || isTransient(error)
      for (const one of group) rejectAll ? one.reject(error) : await commitGroup([one])
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
