import type { Lane } from '../ledger/slots/slots.ts'

/**
 * The engine names the origins, because how it runs an operation depends on where it came from: in which lane it
 * waits, and whether an equal state at the ledger counts as done.
 */
type Rules = { lane: Lane; takesEqualAsDone: boolean }

const RULES = {
  api: { lane: 'live', takesEqualAsDone: false },
  payment: { lane: 'bulk', takesEqualAsDone: false },
  migration: { lane: 'bulk', takesEqualAsDone: true },
} as const satisfies Record<string, Rules>

export type Origin = keyof typeof RULES
export const ORIGINS = Object.keys(RULES) as Origin[]

export const laneOf = (origin: Origin): Lane => RULES[origin].lane

export const takingEqualAsDone = ORIGINS.filter(origin => RULES[origin].takesEqualAsDone)
