import type { Lane, Slots } from '../../ledger/slots.ts'
import { laneOf, ORIGINS, type Origin } from '../origin.ts'

/** Per lane: enough that a free slot never waits for the database; other workers get the rest. */
const MAX_CLAIMS_AHEAD = 32

export type Room = {
  has(lane: Lane): boolean
  origins(): Origin[]
  wait(lane: Lane): Promise<void>
  announce(lane: Lane): void
}

export function openRoom(slots: Slots): Room {
  const waiting: Record<Lane, (() => void)[]> = { live: [], bulk: [] }
  const has = (lane: Lane) => slots.waiting(lane) < MAX_CLAIMS_AHEAD

  return {
    has,
    origins: () => ORIGINS.filter(origin => has(laneOf(origin))),
    async wait(lane) {
      while (!has(lane)) await new Promise<void>(resolve => waiting[lane].push(resolve))
    },
    announce(lane) {
      if (has(lane)) for (const resolve of waiting[lane].splice(0)) resolve()
    },
  }
}
