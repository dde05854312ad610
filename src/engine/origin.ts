import type { Lane } from '../ledger/slots.ts'

type Rules = {
  lane: Lane
  /** Success if the ledger refuses it but already holds what it asks for. */
  takesEqualAsDone: boolean
}

const RULES = {
  /** A caller waits for the result. */
  api: { lane: 'live', takesEqualAsDone: false },
  payment: { lane: 'bulk', takesEqualAsDone: false },
  /** Part of an uploaded portfolio may already be in the ledger. */
  migration: { lane: 'bulk', takesEqualAsDone: true },
} as const satisfies Record<string, Rules>

export type Origin = keyof typeof RULES
export const ORIGINS = Object.keys(RULES) as Origin[]

export const laneOf = (origin: Origin): Lane => RULES[origin].lane

export const takingEqualAsDone = ORIGINS.filter(origin => RULES[origin].takesEqualAsDone)
