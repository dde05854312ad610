import { isTimeout, isTransient } from '../transient.ts'
import { Unavailable } from '../unavailable.ts'
import { within } from '../within.ts'
import { openWaitingLine } from './waiting-line.ts'

/** Larger groups do not lower PostgreSQL's time per row any further, and a group's locks are limited. */
const MAX_PER_COMMIT = 256
/** Groups grow in small steps, because each group that is too large costs a whole time limit. */
const GROWTH = 1.125
export const MAX_CONCURRENT_GROUPS = 4
/** A slower commit waits for a disk or a standby, so a second one at the same time costs nothing. */
const SLOW_COMMIT_MS = 10
/** Beyond this, callers are asked to retry instead of piling up in memory. */
const MAX_WAITING = 5_000
/** Gateways give up after five seconds: we answer 503 before that, so that they retry. */
export const CALLERS_PATIENCE_MS = 4_000
/** What a commit returns for an item that another transaction keeps it from committing. */
export const HELD = Symbol('held')
const TRY_AGAIN_MS = 100

type Waiting<In, Out> = {
  item: In
  names: string[]
  since: number
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

type Commit<In, Out> = (items: In[]) => Promise<(Out | typeof HELD)[]>

type Options<In> = {
  /** How long callers wait, and how long an item that is held is tried again. */
  patienceMs?: number
  onWaited?(ms: number): void
  /** How long the first item waits for others. If 0, only those of the same turn of the event loop share a group. */
  gatherMs?(): number
  /**
   * How many groups may be committed at once. One, the default, makes the largest groups, and a commit costs as much
   * as several rows.
   */
  groups?: number
  /** Items that share a name are committed in order; without this function, groups have no order. */
  namesOf?(item: In): string[]
}

/**
 * If a group fails, its items are committed one by one, so that a poisoned item never fails its neighbours.
 * @param commit returns one result per item, in order. One that is held is tried again, and only those that share a name
 * with it wait meanwhile.
 */
export function groupCommit<In, Out>(commit: Commit<In, Out>, options: Options<In> = {}) {
  const { patienceMs, gatherMs = () => 0, namesOf = () => [] } = options
  const line = openWaitingLine<Waiting<In, Out>>()
  const commits = openCommits(commit, line, options)

  return {
    /** @throws Unavailable if too many wait or the database is too slow; the item may still be committed then */
    submit(item: In): Promise<Out> {
      if (line.length() >= MAX_WAITING)
        return Promise.reject(new Unavailable('too many requests are waiting'))
      const { promise, resolve, reject } = Promise.withResolvers<Out>()
      line.add({ item, names: namesOf(item), since: performance.now(), resolve, reject })
      if (!commits.isGathering()) commitSoon()
      return patienceMs === undefined
        ? promise
        : within(patienceMs, promise, 'the database is slow')
    },
  }

  function commitSoon(): void {
    commits.gather()
    const ms = gatherMs()
    if (ms > 0) setTimeout(commits.commitGathered, ms)
    else setImmediate(commits.commitGathered)
  }
}

/** Commits what waits in the line, in one group at a time or, while commits are slow, in several. */
function openCommits<In, Out>(
  commit: Commit<In, Out>,
  line: ReturnType<typeof openWaitingLine<Waiting<In, Out>>>,
  { patienceMs = CALLERS_PATIENCE_MS, onWaited, groups = 1 }: Options<In>,
) {
  const underWay = new Set<Waiting<In, Out>[]>()
  const size = openSize()
  let slow = 0
  let isGathering = false

  return {
    isGathering: () => isGathering,
    /** Begins no group until `commitGathered`. */
    gather(): void {
      isGathering = true
    },
    commitGathered(): void {
      isGathering = false
      commitNext()
    },
  }

  function commitNext(): void {
    if (isGathering) return
    while (underWay.size < Math.min(slow + 1, groups)) {
      const group = line.take(size.room([...underWay].flat().length))
      if (group.length === 0) return
      void commitConcurrently(group)
    }
  }

  async function commitConcurrently(group: Waiting<In, Out>[]): Promise<void> {
    let isSlow = false
    const timer = setTimeout(() => {
      isSlow = true
      slow++
      commitNext()
    }, SLOW_COMMIT_MS)
    underWay.add(group)
    const held: Waiting<In, Out>[] = []
    size.note(await commitGroup(commit, group, held), group.length)
    clearTimeout(timer)
    underWay.delete(group)
    if (isSlow) slow--
    onWaited?.(performance.now() - (group[0] as Waiting<In, Out>).since)
    line.ended(group)
    tryAgain(held, line, patienceMs, commitNext)
    commitNext()
  }
}

/** Tries items again that are held, and gives up those whose callers have gone. */
function tryAgain<In, Out>(
  held: Waiting<In, Out>[],
  line: ReturnType<typeof openWaitingLine<Waiting<In, Out>>>,
  patienceMs: number,
  commitNext: () => void,
): void {
  const lastSince = performance.now() - patienceMs
  const late = held.filter(({ since }) => since < lastSince)
  const again = held.filter(({ since }) => since >= lastSince)
  for (const { reject } of late) reject(new Unavailable('it is being written to'))
  if (again.length === 0) return
  line.keep(again)
  setTimeout(() => {
    line.putBack(again)
    commitNext()
  }, TRY_AGAIN_MS)
}

type Outcome = 'done' | 'timeout' | 'failed'

/**
 * The size of groups. After one that takes longer than a statement may, groups are half as large: the same size would
 * end in the same way.
 */
function openSize() {
  let max = MAX_PER_COMMIT
  return {
    room: (taken: number) => Math.max(0, max - taken),
    note(outcome: Outcome, count: number) {
      if (outcome === 'timeout') max = Math.max(1, Math.floor(count / 2))
      if (outcome === 'done' && count === max)
        max = Math.min(MAX_PER_COMMIT, Math.ceil(max * GROWTH))
    },
  }
}

/** @param held gets the items that another transaction holds */
async function commitGroup<In, Out>(
  commit: Commit<In, Out>,
  group: Waiting<In, Out>[],
  held: Waiting<In, Out>[],
): Promise<Outcome> {
  try {
    const results = await commit(group.map(({ item }) => item))
    for (const [i, one] of group.entries()) {
      const result = results[i] as Out | typeof HELD
      result === HELD ? held.push(one) : one.resolve(result)
    }
    return 'done'
  } catch (error) {
    const rejectAll = group.length === 1 || isTransient(error)
    for (const one of group) rejectAll ? one.reject(error) : await commitGroup(commit, [one], held)
    return isTimeout(error) ? 'timeout' : 'failed'
  }
}
