import type { Lane } from '../ledger/slots.ts'

type Rules = {
  lane: Lane
  /** Whether an operation that the ledger refuses has succeeded where what it asks for is there already. */
  takesEqualAsDone: boolean
}

/** Where operations come from, and what follows from that. */
const RULES = {
  /** Somebody waits for the result. */
  api: { lane: 'live', takesEqualAsDone: false },
  payment: { lane: 'bulk', takesEqualAsDone: false },
  /** Parts of an uploaded portfolio may be in the ledger before it is migrated. */
  migration: { lane: 'bulk', takesEqualAsDone: true },
} as const satisfies Record<string, Rules>

export type Origin = keyof typeof RULES
export const ORIGINS = Object.keys(RULES) as Origin[]

export const laneOf = (origin: Origin): Lane => RULES[origin].lane

export const takingEqualAsDone = ORIGINS.filter(origin => RULES[origin].takesEqualAsDone)
