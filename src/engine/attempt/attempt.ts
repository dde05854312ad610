import { crashPoint } from '../../crash-point.ts'
import { isTransient } from '../../database/transient.ts'
import { type Answer, LedgerTrouble } from '../../ledger/answer.ts'
import { isOfLedgerShape } from '../../ledger/error-body.ts'
import { type Claim, ClaimGone } from '../claim/claim.ts'
import {
  afterFailedLook,
  brokenOff,
  type Decision,
  deadlineRefusal,
  decide,
  keepingKey,
  keepingResolution,
  operatorsRefusal,
  stillPaused,
  stillUnapproved,
  stillUnknown,
  waitingForSetUp,
} from '../finish/decide.ts'
import type { Ended } from '../finish/finish.ts'
import type { Operation } from '../operation.ts'
import { LedgerPaused } from '../pause.ts'
import { type Refusal, refusal } from '../refusal.ts'
import {
  type AttemptContext,
  begin,
  type CurrentAttempt,
  decided,
  ended,
  look,
  refused,
  success,
} from './current-attempt.ts'
import type { HandOver } from './hand-over.ts'
import { traceAttempt } from './trace-attempt.ts'

export function runAttempt(
  context: AttemptContext,
  operation: Operation,
  claim: Claim,
  handOver: HandOver,
): Promise<Ended> {
  return traceAttempt(context.traces, claim, trace =>
    lookAndWrite(begin(context, operation, claim, handOver, trace), operation, claim),
  )
}

async function lookAndWrite(
  current: CurrentAttempt,
  operation: Operation,
  claim: Claim,
): Promise<Ended> {
  try {
    const early = (await lookFirst(current)) ?? refuseEarly(current)
    if (early !== undefined) return early
    const answer = await operation.run(current.attempt, claim.data)
    return await afterTheWrite(current, answer)
  } catch (error) {
    return afterAnError(current, error)
  }
}

async function lookFirst(current: CurrentAttempt): Promise<Ended | undefined> {
  const { claim, calls } = current
  if (!claim.lookFirst) return undefined
  const effect = await look(current)
  crashPoint('look.answered')
  if (effect.state === 'there') return ended(current, calls.lastRead(), success(effect))
  const isUnapproved = claim.waitingFor === 'ledger_approval' && claim.resolution === null
  return isUnapproved && effect.state !== 'half_done'
    ? ended(current, null, stillUnapproved)
    : undefined
}

function refuseEarly(current: CurrentAttempt): Ended | undefined {
  const { context, claim } = current
  if (claim.resolution === 'failed') return refused(current, operatorsRefusal)
  return isPastDeadline(context, claim)
    ? refused(current, deadlineRefusal(context.deadlineSeconds))
    : undefined
}

async function afterTheWrite(current: CurrentAttempt, answer: Answer | Refusal): Promise<Ended> {
  if (answer.outcome === 'refused') return afterARefusal(current, answer)
  if (isContainerError(answer)) return afterContainerError(current, answer)
  const decision = decide(current.claim, current.key, answer)
  return ended(current, answer, current.hasMovedOn ? keepingKey(decision, answer) : decision)
}

/** Believes a refusal only if the ledger does not hold what was requested. */
async function afterARefusal(current: CurrentAttempt, answer: Answer | Refusal): Promise<Ended> {
  const { operation, claim, calls, attempt } = current
  // It may be the refusal of a duplicate: an earlier attempt may have arrived after our look, or this write
  // itself may have arrived twice, which matters only if something was remembered.
  const mayHaveComeTwice = attempt.seen !== null && calls.written() !== null
  if (claim.lookFirst || mayHaveComeTwice) {
    const effect = await look(current)
    if (effect.state === 'there') return ended(current, answer, success(effect))
  }
  // What was refused before the write says nothing about a call that still runs at the ledger.
  const isUndecided = claim.mayStillRun && calls.written() === null
  if (claim.takesEqualAsDone) {
    const effect = await (operation.findEqual ?? operation.find)(attempt, claim.data)
    if (effect.state === 'there') return ended(current, answer, success(effect))
    if (effect.state === 'differs' && !isUndecided) {
      const difference = refusal('409', 'loanops.differs.at.ledger', effect.how)
      return refused(current, difference, answer)
    }
  }
  if (isUndecided) return ended(current, calls.lastRead(), stillUnknown(claim, answer))
  const finding = await current.context.setUpBehind(claim, answer)
  if (finding === undefined) return decided(current, answer)
  return ended(current, answer, waitingForSetUp(claim, answer, finding))
}

/** Fineract answers a write with wrong credentials with a 500; a read distinguishes that from a real failure. */
async function afterContainerError(current: CurrentAttempt, answer: Answer): Promise<Ended> {
  try {
    const effect = await look(current)
    if (effect.state === 'there') return ended(current, answer, success(effect))
  } catch (error) {
    if (!(error instanceof LedgerTrouble)) throw error
    const { outcome, message, retryAfterMs = 0 } = error.answer
    const isOurs = outcome === 'misconfigured'
    return decided(current, { ...answer, ...(isOurs ? { outcome, message } : {}), retryAfterMs })
  }
  return decided(current, answer)
}

function afterAnError(current: CurrentAttempt, error: unknown): Ended {
  const { context, claim, key, calls, isLooking } = current
  // The ledger may be unreachable for good, and the operator has the last word; a lost database comes back.
  if (claim.resolution === 'failed')
    return isTransient(error)
      ? ended(current, null, keepingResolution(brokenOff(claim, error as Error, false)))
      : refused(current, operatorsRefusal)
  if (error instanceof LedgerPaused) return ended(current, null, stillPaused(claim))
  const left = (decision: Decision) => (isLooking ? afterFailedLook(decision) : decision)
  const written = calls.written()
  if (error instanceof LedgerTrouble)
    return ended(current, written ?? error.answer, left(decide(claim, key, error.answer)))
  if (!(error instanceof ClaimGone))
    context.log.error({ err: error, operation: claim.id }, 'attempt failed unexpectedly')
  return ended(current, written, left(brokenOff(claim, error as Error, calls.mayHaveArrived())))
}

function isContainerError({ status, body }: Answer): boolean {
  return status === 500 && !isOfLedgerShape(body)
}

function isPastDeadline(
  { deadlineSeconds, ledger, pauses }: AttemptContext,
  { acceptedAt, claimedAt, unknownSince, mayStillRun, waitingFor, isTried }: Claim,
): boolean {
  // What waits for approval at the ledger may still be approved there: it must not fail here.
  if (unknownSince !== null || mayStillRun || waitingFor === 'ledger_approval') return false
  // It has only waited behind others, which is no reason to fail it while the ledger can be called.
  if (!isTried && !ledger.breaker.isOpen()) return false
  // Both by the database's clock: this process's may differ by a day.
  const ageMs = claimedAt.getTime() - acceptedAt.getTime()
  return ageMs - pauses.pausedBetween(acceptedAt, claimedAt) > deadlineSeconds * 1_000
}
