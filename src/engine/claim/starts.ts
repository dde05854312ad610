import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import { groupCommit } from '../../database/group-commit.ts'
import type { Lane, Slots } from '../../ledger/slots.ts'
import type { Catalogue, Kept } from '../operation.ts'
import { type Claim, type ClaimKey, claimKey, startClaims } from './claim.ts'

/**
 * A start recorded with its claim costs nothing; a statement of its own costs as much as the claim. But if this process dies
 * first, the ledger has to be asked about a write that was never sent.
 */
const STARTED_AHEAD_MS = 250
/** Per lane, however fast the ledger is. */
const MAX_STARTED_AHEAD = 64
/** How many attempts the average looks back: enough to smooth one slow answer, few enough to follow a ledger that slows down. */
const AVERAGED = 8
/** Until many attempts have shown otherwise, the ledger is assumed to be too slow for any start ahead of its slot. */
const ATTEMPT_MS = 60_000

export type Starts = {
  /** Whether so many more claims of the lane will have their slots so soon that their starts may be recorded at once. */
  areNear(lane: Lane, claims: number): boolean
  /** @param task its `send` records that the claim's write may be sent, and then says whether it may */
  run<T>(lane: Lane, claim: Claim, task: (send: Send) => Promise<T>): Promise<T>
}

/** @param kept what the write depends on, for later attempts */
export type Send = (kept?: Kept | null) => Promise<boolean>

/** A claim that expires without this record cannot have written anything. */
export function openStarts(
  db: Database,
  worker: string,
  slots: Slots,
  catalogue: Catalogue = new Map(),
): Starts {
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
        const attempt = { since: performance.now(), isSent: false }
        lane.running.add(attempt)
        try {
          return await task((kept = null) => {
            attempt.isSent = true
            return startInSlot(lane, claim, kept)
          })
        } finally {
          // The claim's start and its end must not lock the same row at once.
          await started.get(claim)?.catch(() => undefined)
          started.delete(claim)
          lane.running.delete(attempt)
          if (attempt.isSent)
            lane.attemptMs += (performance.now() - attempt.since - lane.attemptMs) / AVERAGED
        }
      })
    },
  }

  /** Also starts those that will get a slot soon, and then write at once. */
  function startInSlot(lane: LaneLoad, claim: Claim, kept: Kept | null): Promise<boolean> {
    const starting = start(claim, kept)
    for (const next of [...lane.waiting].slice(0, ahead(lane)))
      if (catalogue.get(next.operationType)?.writesAtOnce) void start(next)
    return starting
  }

  function start(claim: Claim, kept: Kept | null = null): Promise<boolean> {
    if (claim.isSent) return Promise.resolve(true)
    const known = started.get(claim)
    if (known !== undefined) return known
    const starting = starts.submit({ id: claim.id, number: claim.number, kept })
    started.set(claim, starting)
    // The write gets the error. A start that fails before its claim has a slot is retried when it gets one.
    starting.catch(() => started.delete(claim))
    return starting
  }

  async function startEach(claims: (ClaimKey & { kept: Kept | null })[]): Promise<boolean[]> {
    const mayWrite = new Set((await startClaims(db, worker, claims)).map(claimKey))
    crashPoint('start.committed')
    return claims.map(claim => mayWrite.has(claimKey(claim)))
  }
}

type LaneLoad = {
  waiting: Set<Claim>
  /** The oldest first. */
  running: Set<{ since: number }>
  attemptMs: number
}

const openLane = (): LaneLoad => ({ waiting: new Set(), running: new Set(), attemptMs: ATTEMPT_MS })

/** How many claims get a slot soon; none if the ledger is slow. */
function ahead({ running, attemptMs }: LaneLoad): number {
  // A ledger that begins to hang shows only in attempts that have not ended.
  const [oldest] = running
  const oldestMs = oldest === undefined ? 0 : performance.now() - oldest.since
  const soon = (STARTED_AHEAD_MS * running.size) / Math.max(attemptMs, oldestMs)
  return Math.min(MAX_STARTED_AHEAD, Math.floor(soon))
}
