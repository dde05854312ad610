import { sql } from 'kysely'
import { ASSIGNABLE, reasonIs } from '../suspense-reasons.ts'

type Objected = { state: string; objection: string | null }
type Suspended = { kind: string; state: string; reason: string | null }
type Assignable = Suspended & { isOutdated: boolean }
type Postable = { kind: string; state: string; unreadableKind: string | null }

const DECIDED = ['handled', 'dismissed']
/** The states in which an objection stays until an operator clears it. */
const WITH_OBJECTION = ['posted', 'returned', ...DECIDED]

/** Whether it can be handled or dismissed. */
export function isOpen({ state, objection }: Objected): boolean {
  return state === 'suspense' || (objection !== null && WITH_OBJECTION.includes(state))
}

export const IS_OPEN = sql`(p.state = 'suspense' or p.objection is not null and p.state = any(${WITH_OBJECTION}))`

export function isDecided({ state }: { state: string }): boolean {
  return DECIDED.includes(state)
}

/** Whether it is a payment in suspense, and not an unreadable refund or dispute, whose money went back. */
export function isPostable({ kind, state, unreadableKind }: Postable): boolean {
  return kind === 'payment' && state === 'suspense' && unreadableKind === null
}

/** `isOutdated`: it may be assigned again. */
export function isAssignable({ kind, state, reason, isOutdated }: Assignable): boolean {
  const isOver = reasonIs('assignable', reason) || (isOutdated && reason === 'events_disagree')
  return kind === 'payment' && state === 'suspense' && isOver
}

/** Whether several can be assigned at once, each to the loan that it has. */
export const IS_ASSIGNABLE = sql`p.kind = 'payment' and p.state = 'suspense' and p.reason = any(${ASSIGNABLE})`

/**
 * Whether a refund or chargeback can be taken out of its payment. One from outside the lender's networks cannot, nor one
 * that its gateway does not have.
 */
export function isReversible({ kind, state, reason }: Suspended): boolean {
  return kind !== 'payment' && state === 'suspense' && reasonIs('reversible', reason)
}

/** Whether this refund or chargeback can be put back: what was booked by hand has to be undone by hand. */
export function isRestorable({ state, objection }: Objected): boolean {
  return objection === 'taken_back' && state !== 'handled'
}
