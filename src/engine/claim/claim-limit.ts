import type { Lane, Slots } from '../../ledger/slots/slots.ts'
import { laneOf, ORIGINS } from '../origin.ts'

/** Enough claims of a lane that a free slot never waits for the database; other workers get the rest. */
const MAX_CLAIMS_AHEAD = 32

export type ClaimLimit = ReturnType<typeof openClaimLimit>

export function openClaimLimit(slots: Slots) {
  const waiting: Record<Lane, (() => void)[]> = { live: [], bulk: [] }
  const isBelow = (lane: Lane) => slots.waiting(lane) < MAX_CLAIMS_AHEAD

  return {
    /** The origins whose lane may claim more. */
    openOrigins: () => ORIGINS.filter(origin => isBelow(laneOf(origin))),
    async untilBelow(lane: Lane): Promise<void> {
      while (!isBelow(lane)) await new Promise<void>(resolve => waiting[lane].push(resolve))
    },
    slotTaken(lane: Lane): void {
      if (isBelow(lane)) for (const resolve of waiting[lane].splice(0)) resolve()
    },
  }
}
