import { crashPoint } from '../crash-point.ts'
import type { Database } from '../database/database.ts'
import { groupCommit } from '../database/group-commit.ts'
import type { Lane, Slots } from '../ledger/slots.ts'
import { type Claim, claimKey, startClaims } from './claim.ts'

/**
 * A start recorded with its claim costs nothing; a statement of its own costs as much as the claim. But if this process dies
 * first, the ledger has to be asked about a write that was never sent.
 */
const STARTED_AHEAD_MS = 250
const AVERAGED = 8
/** Until the first attempts show otherwise, the ledger is assumed to be slow. */
const ATTEMPT_MS = 1_000

export type Starts = {
  /** Whether so many more claims of the lane will have their slots about as soon as a start could be recorded. */
  areNear(lane: Lane, claims: number): boolean
  /** @param task its `start` starts the claim and then says whether it may still write */
  run<T>(lane: Lane, claim: Claim, task: (start: () => Promise<boolean>) => Promise<T>): Promise<T>
}

/** A claim that expires without a recorded start cannot have written anything. */
export function openStarts(db: Database, worker: string, slots: Slots): Starts {
  const starts = groupCommit(startEach)
  const started = new Map<Claim, Promise<boolean>>()
  const lanes = { live: openLane(), bulk: openLane() }

  return {
    areNear: (name, claims) =>
      slots.free(name) >= claims || lanes[name].waiting.size + claims <= ahead(lanes[name]),
    run(name, claim, task) {
      const lane = lanes[name]
      lane.waiting.add(claim)
      return slots.run(name, async () => {
        lane.waiting.delete(claim)
        try {
          return await counted(lane, () => task(() => startInSlot(lane, claim)))
        } finally {
          // The claim's start and its end must not lock the same row at once.
          await started.get(claim)?.catch(() => undefined)
          started.delete(claim)
        }
      })
    },
  }

  /** Also starts those that will get a slot before the next commit. */
  function startInSlot(lane: LaneLoad, claim: Claim): Promise<boolean> {
    const starting = start(claim)
    for (const next of [...lane.waiting].slice(0, ahead(lane))) void start(next)
    return starting
  }

  function start(claim: Claim): Promise<boolean> {
    if (claim.isStarted) return Promise.resolve(true)
    const known = started.get(claim)
    if (known !== undefined) return known
    const starting = starts.submit(claim)
    started.set(claim, starting)
    // The write gets the error. A start that fails before its claim has a slot is retried when it gets one.
    starting.catch(() => started.delete(claim))
    return starting
  }

  async function startEach(claims: Claim[]): Promise<boolean[]> {
    const mayWrite = new Set((await startClaims(db, worker, claims)).map(claimKey))
    crashPoint('start.committed')
    return claims.map(claim => mayWrite.has(claimKey(claim)))
  }
}

type LaneLoad = { waiting: Set<Claim>; running: number; attemptMs: number }

/** How many claims get a slot within this time; none if the ledger is slow. */
const ahead = ({ running, attemptMs }: LaneLoad): number =>
  Math.round((STARTED_AHEAD_MS * running) / attemptMs)

const openLane = (): LaneLoad => ({ waiting: new Set(), running: 0, attemptMs: ATTEMPT_MS })

async function counted<T>(lane: LaneLoad, attempt: () => Promise<T>): Promise<T> {
  lane.running++
  const since = performance.now()
  try {
    return await attempt()
  } finally {
    lane.running--
    lane.attemptMs += (performance.now() - since - lane.attemptMs) / AVERAGED
  }
}
