import type { Lane, Slots } from '../../ledger/slots/slots.ts'
import { laneOf, ORIGINS, type Origin } from '../origin.ts'

/** Enough claims of a lane that a free slot never waits for the database; other workers get the rest. */
const MAX_CLAIMS_AHEAD = 32

export type ClaimLimit = {
  /** The origins whose lane may claim more. */
  openOrigins(): Origin[]
  untilBelow(lane: Lane): Promise<void>
  slotTaken(lane: Lane): void
}

export function openClaimLimit(slots: Slots): ClaimLimit {
  const waiting: Record<Lane, (() => void)[]> = { live: [], bulk: [] }
  const isBelow = (lane: Lane) => slots.waiting(lane) < MAX_CLAIMS_AHEAD

  return {
    openOrigins: () => ORIGINS.filter(origin => isBelow(laneOf(origin))),
    async untilBelow(lane) {
      while (!isBelow(lane)) await new Promise<void>(resolve => waiting[lane].push(resolve))
    },
    slotTaken(lane) {
      if (isBelow(lane)) for (const resolve of waiting[lane].splice(0)) resolve()
    },
  }
}
