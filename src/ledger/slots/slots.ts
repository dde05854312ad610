import { openRunningTasks } from './running-tasks.ts'

export const LANES = ['live', 'bulk'] as const
export type Lane = (typeof LANES)[number]

export type Slots = ReturnType<typeof openSlots>

/**
 * While both lanes wait, seven live tasks start per bulk task; otherwise a steady live stream would starve
 * payments.
 */
const LIVE_PER_BULK = 7

/** @param total bulk gets at most half, so that live operations continue even if every other call hangs */
export function openSlots(total: number) {
  const most = { live: total, bulk: bulkOf(total) }
  const busy = { live: 0, bulk: 0 }
  const waiting: Record<Lane, (() => void)[]> = { live: [], bulk: [] }
  const running = openRunningTasks<Lane>(total)
  const turns = openTurns()

  return {
    async run<T>(lane: Lane, task: () => Promise<T>): Promise<T> {
      if (free(lane) === 0 || waiting[lane].length > 0) {
        await new Promise<void>(resolve => waiting[lane].push(resolve))
      } else busy[lane]++
      const mine = running.begin(lane)
      try {
        return await task()
      } finally {
        if (running.end(mine)) busy[lane]--
        startWaiting()
      }
    },
    /** Gives away the slots of hung tasks, but never of more than this process may run at once. */
    replace(afterMs: number): void {
      for (const lane of running.replaceHung(afterMs)) busy[lane]--
      startWaiting()
    },
    free,
    waiting: (lane: Lane) => waiting[lane].length,
    busy: (lane: Lane) => busy[lane],
    /** Changes the limits. Tasks that are already running continue, even if they are more. */
    resize(limits: { total: number; bulk: number }): void {
      most.live = limits.total
      most.bulk = limits.bulk
      startWaiting()
    },
    most: most as Readonly<typeof most>,
  }

  function free(lane: Lane): number {
    return Math.max(0, Math.min(most[lane] - busy[lane], most.live - busy.live - busy.bulk))
  }

  function startWaiting() {
    const isReady = (lane: Lane) => free(lane) > 0 && waiting[lane].length > 0
    for (let lane = turns.next(isReady); lane !== undefined; lane = turns.next(isReady)) {
      // The slot is counted here, so that nobody else takes it before the resumed task does.
      busy[lane]++
      waiting[lane].shift()?.()
    }
  }
}

function openTurns() {
  /** Live tasks started since the last bulk task, while a bulk task could have started. */
  let liveBefore = 0
  return {
    next(isReady: (lane: Lane) => boolean): Lane | undefined {
      if (!isReady('bulk')) return isReady('live') ? 'live' : undefined
      const isBulksTurn = !isReady('live') || liveBefore >= LIVE_PER_BULK
      liveBefore = isBulksTurn ? 0 : liveBefore + 1
      return isBulksTurn ? 'bulk' : 'live'
    },
  }
}

export function bulkOf(total: number): number {
  return Math.max(1, Math.floor(total / 2))
}
