import { type Answer, type Outcome, TOO_EARLY } from '../../ledger/answers/answer.ts'
import { isOfLedgerShape } from '../../ledger/answers/error-body.ts'
import { isRefusedUnderKey } from '../../ledger/answers/outcome-under-key.ts'
import type { Finding } from '../../ledger/check/finding.ts'
import { publicReason } from '../../log/public-error.ts'
import type { Claim } from '../claim/claim.ts'
import type { WaitingFor } from '../operation.ts'
import { failureMessage, failureResponse, isAnswer, type Refusal } from '../refusal.ts'
import { isGivenUp, isOnlyCallRecorded, isUseless } from './new-key.ts'

export type Decision =
  | { status: 'success'; response: object }
  | { status: 'failed'; response: object; errorMessage: string; reason?: string }
  | {
      status: 'processing'
      waitingFor: WaitingFor | null
      lastError: string | null
      nextTryMs: number
      lookFirst: boolean
      isUnknown: boolean
      /** Under the old key the ledger would only repeat its stored failure. */
      wantsNewKey: boolean
      countsAsAttempt: boolean
      /** Whether an operator's decision carries over to the next attempt. */
      keepsResolution?: true
    }

/** Most refusals that pass, such as a lock, pass within a second. */
const FIRST_RETRY_MS = 500
/** After an outage of hours, every operation is tried again within half a minute. */
const MAX_RETRY_MS = 30_000
/** Someone has to correct our settings or give the approval. */
const ASK_AGAIN_MS = 60_000
/** Soon enough after the end of a pause, and rare enough during a long one to cost the database little. */
const AFTER_PAUSE_MS = 5_000

const inDoubt = { waitingFor: 'outcome_unknown', lookFirst: true, isUnknown: true } as const
const processing = {
  status: 'processing',
  lastError: null,
  nextTryMs: 0,
  lookFirst: false,
  isUnknown: false,
  wantsNewKey: false,
  countsAsAttempt: false,
} as const

/** Writing again would send the approver a second request. */
export const stillUnapproved: Decision = {
  ...processing,
  waitingFor: 'ledger_approval',
  lastError: 'the ledger holds it for a second person’s approval',
  nextTryMs: ASK_AGAIN_MS,
  lookFirst: true,
}

/** A half-done operation never expires, because only its second write can complete what the first one began. */
const halfDone: Decision = {
  ...processing,
  waitingFor: null,
  isUnknown: true,
  wantsNewKey: true,
  countsAsAttempt: true,
}

export function decide(claim: Claim, key: string, answer: Answer | Refusal): Decision {
  switch (answer.outcome) {
    case 'refused':
      return decideRefusal(answer)
    case 'done':
      return answer.isFirstOfTwo ? halfDone : { status: 'success', response: answer.body as object }
    case 'awaits_approval':
      return {
        ...retryLater(claim, answer),
        waitingFor: 'ledger_approval',
        nextTryMs: ASK_AGAIN_MS,
        lookFirst: true,
      }
    case 'not_now':
      return {
        // A proxy in front of the ledger may answer this for ever: only an operator can end that.
        ...retryUnwritten(
          claim,
          answer,
          isUnproved(claim, answer) ? 'outcome_unknown' : 'ledger_busy',
        ),
        wantsNewKey: answer.isFromStore || isOnlyCallRecorded(claim, key, answer),
        countsAsAttempt: false,
      }
    case 'not_arrived':
      return {
        ...retryLater(claim, answer),
        ...keepWaitingForApproval(claim, 'ledger_unavailable'),
        countsAsAttempt: false,
      }
    case 'misconfigured':
      return {
        ...retryUnwritten(claim, answer, 'ledger_credentials'),
        nextTryMs: isWorthTrying(answer) ? FIRST_RETRY_MS : ASK_AGAIN_MS,
        wantsNewKey: answer.isFromStore || answer.isRecorded,
        countsAsAttempt: answer.status !== null,
      }
    case 'unknown':
      return {
        ...retryLater(claim, answer),
        // The operator is waiting.
        ...(isGivenUp(claim, answer) ? { nextTryMs: 0 } : {}),
        ...inDoubt,
        wantsNewKey: isUseless(claim, key, answer),
      }
  }
}

export function decideRefusal(answer: Answer | Refusal): Decision & { status: 'failed' } {
  return {
    status: 'failed',
    response: failureResponse(answer),
    errorMessage: failureMessage(answer),
    ...('reason' in answer ? { reason: answer.reason } : {}),
  }
}

/**
 * After `moved_on`, only the key can show whether the ledger applied our write, so the key stays until the ledger has
 * stored a failure under it.
 */
export function keepingKey(decision: Decision, answer: Answer | Refusal): Decision {
  if (decision.status !== 'processing' || answer.outcome === 'refused') return decision
  // A "still processing" counts as stored too.
  const isFromStore = answer.isFromStore && answer.status !== TOO_EARLY
  const isFailureKept = isFromStore || (answer.outcome === 'unknown' && answer.isRecorded)
  return { ...decision, wantsNewKey: decision.wantsNewKey && isFailureKept }
}

/** The decision of an operator waits for the next attempt. */
export function keepingResolution(decision: Decision): Decision {
  return decision.status === 'processing' ? { ...decision, keepsResolution: true } : decision
}

/**
 * Our own database or program failed: nothing but us hinders the operation, and `last_error` says what.
 * @param mayHaveArrived whether the attempt's write may have reached the ledger
 */
export function brokenOff(claim: Claim, error: Error, { mayHaveArrived = false } = {}): Decision {
  return {
    ...retryLater(claim, { message: publicReason(error) }),
    ...(mayHaveArrived ? inDoubt : keepWaitingForApproval(claim, null)),
  }
}

export function stillPaused(claim: Claim): Decision {
  return {
    ...processing,
    waitingFor: claim.waitingFor,
    nextTryMs: AFTER_PAUSE_MS,
    lookFirst: claim.lookFirst,
    keepsResolution: true,
  }
}

/** The look was needed because an earlier attempt may have arrived: until one succeeds, the outcome is unknown. */
export function afterFailedLook(decision: Decision): Decision {
  if (decision.status !== 'processing') return decision
  const { waitingFor } = decision
  // The other reasons stay: an operator can resolve them too.
  const isUnknown = [null, 'ledger_busy', 'ledger_unavailable'].includes(waitingFor)
  return isUnknown ? { ...decision, ...inDoubt } : { ...decision, lookFirst: true }
}

/**
 * We or the ledger refused the operation before its write; an earlier call that still runs at the ledger may yet be
 * applied.
 */
export function stillUnknown(claim: Claim, refused: Answer | Refusal): Decision {
  const message = `an earlier attempt may still arrive; a new one is refused: ${failureMessage(refused)}`
  return { ...retryLater(claim, { message }), ...inDoubt }
}

/** A person has to correct the ledger's set-up, or ours. */
export function waitingForSetUp(
  claim: Claim,
  refused: Answer | Refusal,
  { check, found, remedy }: Finding,
): Decision {
  return {
    ...retryLater(claim, { message: `${check}: ${found}. ${remedy}` }),
    waitingFor: 'ledger_credentials',
    nextTryMs: ASK_AGAIN_MS,
    // Under this key, the ledger would repeat its refusal even once the set-up is right.
    wantsNewKey: isAnswer(refused) && isRefusedUnderKey(refused),
  }
}

export function recordedOutcome(outcome: Outcome): Exclude<Outcome, 'awaits_approval'> {
  return outcome === 'awaits_approval' ? 'not_now' : outcome
}

/** A failed look must not end the wait for approval, or the approver would get a second request. */
function keepWaitingForApproval(
  claim: Claim,
  reason: WaitingFor | null,
): { waitingFor: WaitingFor | null; isUnknown: boolean } {
  if (claim.waitingFor !== 'ledger_approval')
    return { waitingFor: reason, isUnknown: reason === 'outcome_unknown' }
  return claim.resolution === 'retry'
    ? { waitingFor: 'outcome_unknown', isUnknown: true }
    : { waitingFor: 'ledger_approval', isUnknown: false }
}

function retryUnwritten(claim: Claim, answer: Answer, reason: WaitingFor) {
  return {
    ...retryLater(claim, answer),
    ...keepWaitingForApproval(claim, reason),
    lookFirst: claim.lookFirst || !answer.leftNothing || mayBeOfRepeat(answer),
  }
}

/**
 * Proxies repeat a DELETE by themselves, and may answer for the repeat of one that was applied. No key shows that: the
 * ledger looks for the loan first, so that its own answer shows that the loan is still there.
 */
const mayBeOfRepeat = ({ method, outcome, body }: Answer): boolean =>
  method === 'DELETE' && outcome === 'not_now' && !isOfLedgerShape(body)

function retryLater(
  claim: Claim,
  { message, retryAfterMs = 0 }: Pick<Answer, 'message' | 'retryAfterMs'>,
) {
  return {
    ...processing,
    lastError: message,
    nextTryMs: Math.max(backOff(claim.number), retryAfterMs),
    lookFirst: claim.lookFirst,
    countsAsAttempt: true,
  }
}

/** The back-off doubles with each claim; the random half keeps thousands of retries from coming at once. */
function backOff(claims: number): number {
  const full = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (claims - 1))
  return full / 2 + (Math.random() * full) / 2
}

/**
 * The answer that the ledger stored under the key says nothing about its set-up now. And what this process did not send,
 * because the ledger refuses its login, one with another login may send at once.
 */
const isWorthTrying = ({ isFromStore, status }: Answer) => isFromStore || status === null

/** Neither an earlier call's answer nor this one's shows what became of it. */
const isUnproved = ({ mayStillRun }: Claim, { leftNothing }: Answer): boolean =>
  mayStillRun && !leftNothing
