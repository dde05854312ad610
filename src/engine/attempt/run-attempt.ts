import { crashPoint } from '../../crash-point.ts'
import { isTransient } from '../../database/transient.ts'
import { type Answer, LedgerTrouble, NOT_FOUND } from '../../ledger/answers/answer.ts'
import { isOfLedgerShape } from '../../ledger/answers/error-body.ts'
import { lagging } from '../../ledger/answers/lagging.ts'
import { isRefusalOfAnother } from '../../ledger/answers/of-another-call.ts'
import { isRefusedUnderKey } from '../../ledger/answers/outcome-under-key.ts'
import type { Effect } from '../../ledger/effect.ts'
import { type Claim, ClaimGone } from '../claim/claim.ts'
import {
  afterFailedLook,
  brokenOff,
  type Decision,
  keepingKey,
  keepingResolution,
  stillPaused,
  stillUnapproved,
  stillUnknown,
  waitingForSetUp,
} from '../finish/decide.ts'
import type { Ended } from '../finish/finish.ts'
import { deadlineRefusal, operatorsRefusal } from '../finish/own-refusals.ts'
import type { Operation } from '../operation.ts'
import { LedgerPaused } from '../pause.ts'
import { differsAtLedger, isAnswer, type Refusal } from '../refusal.ts'
import type { PassedOn } from './passed-on.ts'
import { type AttemptContext, beginAttempt, type RunningAttempt } from './running-attempt.ts'
import { traceAttempt } from './trace-attempt.ts'

export function runAttempt(
  context: AttemptContext,
  operation: Operation,
  claim: Claim,
  passedOn: PassedOn,
): Promise<Ended> {
  return traceAttempt(context.traces, claim, trace =>
    lookAndWrite(context, beginAttempt(context, operation, claim, { passedOn, trace })),
  )
}

async function lookAndWrite(context: AttemptContext, attempt: RunningAttempt): Promise<Ended> {
  try {
    return (
      (await lookFirst(attempt)) ??
      refuseEarly(context, attempt) ??
      (await afterTheWrite(context, attempt, await attempt.write()))
    )
  } catch (error) {
    return afterAnError(context, attempt, error)
  }
}

async function lookFirst(attempt: RunningAttempt): Promise<Ended | undefined> {
  const { claim } = attempt
  if (!claim.lookFirst) return undefined
  const effect = await attempt.look()
  crashPoint('look.answered')
  if (effect.state === 'there' && !(await attempt.mayLackRecord()))
    return attempt.end(success(effect), attempt.lastRead())
  const isUnapproved = claim.waitingFor === 'ledger_approval' && claim.resolution === null
  return isUnapproved && effect.state !== 'half_done'
    ? attempt.end(stillUnapproved, null)
    : undefined
}

function refuseEarly(context: AttemptContext, attempt: RunningAttempt): Ended | undefined {
  if (attempt.claim.resolution === 'failed') return refuse(attempt, operatorsRefusal)
  return isPastDeadline(context, attempt.claim)
    ? refuse(attempt, deadlineRefusal(context.deadlineSeconds, attempt.claim))
    : undefined
}

async function afterTheWrite(
  context: AttemptContext,
  attempt: RunningAttempt,
  answer: Answer | Refusal,
): Promise<Ended> {
  if (answer.outcome === 'refused') return afterARefusal(context, attempt, answer)
  if (isContainerError(answer)) return afterContainerError(attempt, answer)
  const decision = attempt.decide(answer)
  return attempt.end(attempt.hasMovedOn() ? keepingKey(decision, answer) : decision, answer)
}

/** Believes a refusal only if the ledger does not have what was requested. */
async function afterARefusal(
  { setUpBehind }: AttemptContext,
  attempt: RunningAttempt,
  answer: Answer | Refusal,
): Promise<Ended> {
  const { claim } = attempt
  // The ledger may have refused a duplicate: an earlier attempt may have arrived after our look.
  if (claim.lookFirst || attempt.mayHaveComeTwice()) {
    const effect = await attempt.look()
    if (effect.state === 'there') return attempt.end(success(effect), answer)
    // What the ledger answers to a write outranks a read, which may come from a replica that lags.
    const isThere = saysTaken(answer) && attempt.lastRead()?.status === NOT_FOUND
    if (saysGone(answer) || isThere || isOfAnother(answer))
      return attempt.end(attempt.decide({ ...answer, outcome: 'unknown' }), answer)
  } else if (attempt.written() !== null && isAnswer(answer)) {
    const ended = await lookBehindRefusal(attempt, answer)
    if (ended !== undefined) return ended
  }
  // A refusal before the write, or before its key, says nothing about a call that still runs at the ledger.
  const isUndecided = claim.mayStillRun && !isDecided(attempt.written())
  if (claim.takesEqualAsDone) {
    const effect = await attempt.findEqual()
    if (effect.state === 'there') return attempt.end(success(effect), answer)
    if (effect.state === 'differs' && !isUndecided)
      return refuse(attempt, differsAtLedger(effect.how), answer)
  }
  if (isUndecided) return attempt.end(stillUnknown(claim, answer), attempt.lastRead())
  if (await attempt.lacksOwn(answer)) throw lagging(attempt.lastRead()?.path ?? '')
  const finding = await setUpBehind(claim, answer)
  return attempt.end(
    finding === undefined ? attempt.decide(answer) : waitingForSetUp(claim, answer, finding),
    answer,
  )
}

const isDecided = (written: Answer | null): boolean =>
  written !== null && (written.outcome === 'done' || isRefusedUnderKey(written))

const isOfAnother = (answer: Answer | Refusal): answer is Answer =>
  isAnswer(answer) && isRefusalOfAnother(answer)

const saysGone = (answer: Answer | Refusal): answer is Answer =>
  isAnswer(answer) && answer.method === 'DELETE' && answer.status === NOT_FOUND

/** The loan or client that the call would create has been created, perhaps by an earlier attempt. */
const saysTaken = (answer: Answer | Refusal): answer is Answer =>
  isAnswer(answer) &&
  /^error\.msg\.(loan|client)\.(with|duplicate)\.externalId/.test(answer.code ?? '')

/** A proxy that mixes up its connections may have passed on the refusal of another call. */
async function lookBehindRefusal(attempt: RunningAttempt, answer: Answer) {
  const effect = await attempt.findOwn()
  if (effect.state === 'there') return attempt.end(success(effect), answer)
  return effect.state === 'half_done' || isOfAnother(answer)
    ? attempt.end(attempt.decide({ ...answer, outcome: 'unknown' }), answer)
    : undefined
}

/** Fineract answers a write with wrong credentials with a 500; a read distinguishes that from a real failure. */
async function afterContainerError(attempt: RunningAttempt, answer: Answer): Promise<Ended> {
  try {
    const effect = await attempt.look()
    if (effect.state === 'there') return attempt.end(success(effect), answer)
  } catch (error) {
    if (!(error instanceof LedgerTrouble)) throw error
    const { outcome, message, retryAfterMs = 0 } = error.answer
    const isOurs = outcome === 'misconfigured'
    const explained = { ...answer, ...(isOurs ? { outcome, message } : {}), retryAfterMs }
    return attempt.end(attempt.decide(explained), explained)
  }
  return attempt.end(attempt.decide(answer), answer)
}

const EXPECTED = [LedgerPaused, LedgerTrouble, ClaimGone]

function afterAnError({ log }: AttemptContext, attempt: RunningAttempt, error: unknown): Ended {
  const { claim } = attempt
  if (!EXPECTED.some(kind => error instanceof kind))
    log.error({ err: error, operation: claim.id }, 'attempt failed unexpectedly')
  // The ledger may be unreachable for good, and the operator has the last word; a lost database comes back.
  if (claim.resolution === 'failed')
    return isTransient(error)
      ? attempt.end(keepingResolution(brokenOff(claim, error as Error)), null)
      : refuse(attempt, operatorsRefusal)
  if (error instanceof LedgerPaused) return attempt.end(stillPaused(claim), null)
  const left = (decision: Decision) => (attempt.isLooking() ? afterFailedLook(decision) : decision)
  const written = attempt.written()
  if (error instanceof LedgerTrouble)
    return attempt.end(left(attempt.decide(error.answer)), written ?? error.answer)
  const mayHaveArrived = attempt.mayHaveArrived()
  return attempt.end(left(brokenOff(claim, error as Error, { mayHaveArrived })), written)
}

function refuse(attempt: RunningAttempt, reason: Refusal, answer: Answer | Refusal | null = null) {
  return attempt.end(attempt.decide(reason), answer)
}

const success = (effect: Effect & { state: 'there' }): Decision => ({
  status: 'success',
  response: effect.body,
})

const isContainerError = ({ status, body }: Answer): boolean =>
  status === 500 && !isOfLedgerShape(body)

function isPastDeadline(
  { deadlineSeconds, ledger, pauses }: AttemptContext,
  { acceptedAt, claimedAt, unknownSince, mayStillRun, waitingFor, isTried }: Claim,
): boolean {
  // A call that waits for approval at the ledger may still be approved there: it must not fail here.
  if (unknownSince !== null || mayStillRun || waitingFor === 'ledger_approval') return false
  // An operation that only waited behind others need not fail at its deadline while the ledger can be called.
  if (!isTried && !ledger.breaker.isOpen()) return false
  // Both times are by the database's clock: this process's may differ by a day.
  const ageMs = claimedAt.getTime() - acceptedAt.getTime()
  return ageMs - pauses.pausedBetween(acceptedAt, claimedAt) > deadlineSeconds * 1_000
}
