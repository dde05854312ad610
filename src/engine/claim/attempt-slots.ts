import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import { groupCommit } from '../../database/group-commit/group-commit.ts'
import type { Lane, Slots } from '../../ledger/slots/slots.ts'
import type { Catalogue, Kept } from '../operation.ts'
import { type Claim, type ClaimKey, claimKey, recordSendings } from './claim.ts'

/**
 * Recording a sending together with its claim costs nothing; a statement of its own costs as much as the claim. But if this
 * process dies before the write, the ledger has to be asked about a write that was never sent.
 */
const RECORDED_AHEAD_MS = 250
/** This is the limit per lane, however fast the ledger is. */
const MAX_RECORDED_AHEAD = 64
/** How many attempts the average looks back: enough to smooth one slow answer, few enough to follow a ledger that slows down. */
const AVERAGED = 8
/** Until many attempts have shown otherwise, the ledger is assumed to be too slow to record anything ahead of a slot. */
const ATTEMPT_MS = 60_000

export type AttemptSlots = ReturnType<typeof openAttemptSlots>

/** @param kept what the write depends on, for later attempts */
export type Send = (kept?: Kept | null) => Promise<boolean>

/** A claim that expires without the record of a sending cannot have written anything. */
export function openAttemptSlots(
  db: Database,
  worker: string,
  slots: Slots,
  catalogue: Catalogue = new Map(),
) {
  const sendings = openSendings(db, worker)
  const lanes = { live: openLane(), bulk: openLane() }

  return {
    /** Whether this many more claims of the lane will get slots soon enough for their sendings to be recorded with the claim. */
    comeSoon: (name: Lane, claims: number) =>
      slots.free(name) >= claims || lanes[name].waiting.size + claims <= slotsSoon(lanes[name]),
    /** @param attempt its `send` records that the claim's write may be sent, and then says whether it may */
    run<T>(name: Lane, claim: Claim, attempt: (send: Send) => Promise<T>): Promise<T> {
      const lane = lanes[name]
      lane.waiting.add(claim)
      return slots.run(name, async () => {
        lane.waiting.delete(claim)
        const running = { since: performance.now(), isSent: false }
        lane.running.add(running)
        try {
          return await attempt((kept: Kept | null = null) => {
            running.isSent = true
            return recordWithNext(lane, claim, kept)
          })
        } finally {
          // The claim's sending and its end must not lock the same row at once.
          await sendings.of(claim)?.catch(() => undefined)
          sendings.forget(claim)
          lane.running.delete(running)
          if (running.isSent)
            lane.attemptMs += (performance.now() - running.since - lane.attemptMs) / AVERAGED
        }
      })
    },
  }

  /** Also records the sendings of claims that will get a slot soon, and then write at once. */
  function recordWithNext(lane: LaneLoad, claim: Claim, kept: Kept | null): Promise<boolean> {
    const recording = sendings.record(claim, kept)
    for (const next of [...lane.waiting].slice(0, slotsSoon(lane)))
      if (catalogue.get(next.operationType)?.writesAtOnce) void sendings.record(next)
    return recording
  }
}

/** Records each claim's sending once, together with those of other claims. */
function openSendings(db: Database, worker: string) {
  const commits = groupCommit(recordEach)
  const recorded = new Map<Claim, Promise<boolean>>()

  return {
    record,
    of: (claim: Claim) => recorded.get(claim),
    forget: (claim: Claim) => void recorded.delete(claim),
  }

  function record(claim: Claim, kept: Kept | null = null): Promise<boolean> {
    if (claim.isSent) return Promise.resolve(true)
    const known = recorded.get(claim)
    if (known !== undefined) return known
    const recording = commits.submit({ id: claim.id, number: claim.number, kept })
    recorded.set(claim, recording)
    // The write gets the error. A record that fails before its claim has a slot is made again when it gets one.
    recording.catch(() => recorded.delete(claim))
    return recording
  }

  async function recordEach(claims: (ClaimKey & { kept: Kept | null })[]): Promise<boolean[]> {
    const mayWrite = new Set((await recordSendings(db, worker, claims)).map(claimKey))
    crashPoint('start.committed')
    return claims.map(claim => mayWrite.has(claimKey(claim)))
  }
}

type LaneLoad = {
  waiting: Set<Claim>
  /** The attempts in slots, the oldest first. */
  running: Set<{ since: number }>
  attemptMs: number
}

const openLane = (): LaneLoad => ({ waiting: new Set(), running: new Set(), attemptMs: ATTEMPT_MS })

/** How many claims get a slot soon; none if the ledger is slow. */
function slotsSoon({ running, attemptMs }: LaneLoad): number {
  // A ledger that begins to hang shows only in attempts that have not ended.
  const [oldest] = running
  const oldestMs = oldest === undefined ? 0 : performance.now() - oldest.since
  const soon = (RECORDED_AHEAD_MS * running.size) / Math.max(attemptMs, oldestMs)
  return Math.min(MAX_RECORDED_AHEAD, Math.floor(soon))
}
