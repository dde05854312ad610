import { crashPoint } from '../../crash-point.ts'
import { idOf } from '../../ids.ts'
import type { Answer } from '../../ledger/answer.ts'
import type { Ledger } from '../../ledger/client.ts'
import { type Effect, there } from '../../ledger/effect.ts'
import type { Reference } from '../../ledger/reference.ts'
import type { Log } from '../../log.ts'
import type { Trace, Traces } from '../../ops/traces.ts'
import type { Claim } from '../claim/claim.ts'
import type { SetUpBehind } from '../claim/set-up-behind.ts'
import { type Decision, decide } from '../finish/decide.ts'
import type { Ended } from '../finish/finish.ts'
import type { Attempt, Kept, Operation } from '../operation.ts'
import type { Pauses } from '../pause.ts'
import type { Refusal } from '../refusal.ts'
import type { HandOver } from './hand-over.ts'
import { type WatchedLedger, watchLedger } from './watched-ledger.ts'

export type AttemptContext = {
  ledger: Ledger
  reference: Reference
  deadlineSeconds: number
  pauses: Pauses
  /** @param kept what the write depends on, for later attempts */
  mayWrite(kept: Kept | null): Promise<boolean>
  remember(claim: Claim, seen: unknown): Promise<void>
  setUpBehind: SetUpBehind
  traces: Traces
  log: Pick<Log, 'error'>
}

export type CurrentAttempt = {
  context: AttemptContext
  operation: Operation
  claim: Claim
  key: string
  calls: WatchedLedger
  attempt: Attempt
  isLooking: boolean
  /** The last look found `moved_on`: then only the key can show whether our write came first. */
  hasMovedOn: boolean
}

export function begin(
  context: AttemptContext,
  operation: Operation,
  claim: Claim,
  handOver: HandOver,
  trace: Trace,
): CurrentAttempt {
  const key = idOf(`${claim.id}:${claim.keyGeneration}`)
  const kept = { ...claim.kept }
  const calls = watchLedger(
    context.ledger,
    () => context.mayWrite(isEmpty(kept) ? null : kept),
    trace,
  )
  const attempt: Attempt = {
    ledger: calls.ledger,
    reference: context.reference,
    id: claim.id,
    origin: claim.origin,
    key,
    takesEqualAsDone: claim.takesEqualAsDone,
    get mayStillRun() {
      // The ledger refuses under a key only once no other call under it runs.
      const isRefused = calls.written()?.outcome === 'refused'
      return !isRefused && (claim.mayStillRun || calls.mayHaveArrived())
    },
    kept,
    async keep<T>(name: string, read: () => Promise<T>) {
      if (!claim.mayStillRun || kept[name] === undefined) kept[name] = await read()
      return kept[name] as T
    },
    seen: claim.seen,
    async remember(seen) {
      attempt.seen = seen
      await context.remember(claim, seen)
      crashPoint('remember.committed')
    },
    handedOn: handOver.take(claim),
    handOn: value => handOver.leave(claim, value),
  }
  return { context, operation, claim, key, calls, attempt, isLooking: false, hasMovedOn: false }
}

export async function look(current: CurrentAttempt): Promise<Effect> {
  const { operation, claim, attempt } = current
  current.isLooking = true
  const effect = await operation.find(attempt, claim.data)
  current.isLooking = false
  current.hasMovedOn = effect.state === 'moved_on'
  // The ledger had queued it for approval; the approver may have progressed it.
  const wasTaken = claim.waitingFor === 'ledger_approval'
  return effect.state === 'moved_on' && wasTaken ? there(effect.body) : effect
}

export function ended(
  { claim, key, attempt }: CurrentAttempt,
  answer: Answer | Refusal | null,
  decision: Decision,
): Ended {
  const { kept, mayStillRun } = attempt
  return {
    claim,
    key,
    answer,
    kept: isEmpty(kept) ? null : kept,
    mayStillRun,
    decision,
  }
}

const isEmpty = (kept: Kept) => Object.keys(kept).length === 0

export function decided(current: CurrentAttempt, answer: Answer | Refusal): Ended {
  return ended(current, answer, decide(current.claim, current.key, answer))
}

export function refused(
  current: CurrentAttempt,
  reason: Refusal,
  answer: Answer | Refusal | null = null,
): Ended {
  return ended(current, answer, decide(current.claim, current.key, reason))
}

export const success = (effect: Effect & { state: 'there' }): Decision => ({
  status: 'success',
  response: effect.body,
})
