import type { Answer, Outcome } from '../ledger/answer.ts'
import type { Claim } from './claim.ts'
import { failureMessage, failureResponse, type Refusal, refusal } from './refusal.ts'

export type WaitingFor =
  | 'ledger_unavailable'
  | 'ledger_busy'
  | 'ledger_credentials'
  | 'ledger_approval'
  | 'outcome_unknown'

/** How an attempt leaves its operation. */
export type Ending =
  | { status: 'success'; response: object }
  | { status: 'failed'; response: object; errorMessage: string; reason?: string }
  | {
      status: 'processing'
      waitingFor: WaitingFor
      lastError: string
      nextTryMs: number
      /** Something may stand at the ledger now. */
      lookFirst: boolean
      isUnknown: boolean
      /** The ledger would only repeat its failure under the old key. */
      wantsNewKey: boolean
      /** "Not now" says nothing about the operation. */
      countsAsAttempt: boolean
    }

const FIRST_RETRY_MS = 500
const MAX_RETRY_MS = 30_000
/** Our settings change by hand, and a second person's approval takes its time. */
const ASK_AGAIN_MS = 60_000
/** A key that has been "still processing" for so long belongs to a call that died inside the ledger. */
const STUCK_KEY_MS = 10 * 60_000
const TOO_EARLY = 425

/** Writing again would put a second request before the approver. */
export const stillUnapproved: Ending = {
  status: 'processing',
  waitingFor: 'ledger_approval',
  lastError: 'the ledger holds it for a second person’s approval',
  nextTryMs: ASK_AGAIN_MS,
  lookFirst: true,
  isUnknown: false,
  wantsNewKey: false,
  countsAsAttempt: false,
}

/**
 * What follows from the ledger's answer, or from a refusal of our own.
 * @param key the Idempotency-Key that the write carried
 */
export function decide(
  claim: Claim,
  key: string,
  answer: Answer | Refusal,
  now = new Date(),
): Ending {
  if (isRefusal(answer))
    return {
      status: 'failed',
      response: failureResponse(answer),
      errorMessage: failureMessage(answer),
      ...('reason' in answer ? { reason: answer.reason } : {}),
    }
  switch (answer.outcome) {
    case 'refused':
      throw new Error('refusals are decided above')
    case 'done':
      return { status: 'success', response: answer.body as object }
    case 'awaits_approval':
      return {
        ...retryLater(claim, answer),
        waitingFor: 'ledger_approval',
        nextTryMs: ASK_AGAIN_MS,
        lookFirst: true,
      }
    case 'not_now':
      return {
        ...retryLater(claim, answer),
        ...keepWaitingForApproval(claim, 'ledger_busy'),
        lookFirst: claim.lookFirst || !answer.leftNothing,
        wantsNewKey: answer.isRecorded,
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
        ...retryLater(claim, answer),
        ...keepWaitingForApproval(claim, 'ledger_credentials'),
        nextTryMs: ASK_AGAIN_MS,
        lookFirst: claim.lookFirst || !answer.leftNothing,
      }
    case 'unknown':
      return {
        ...retryLater(claim, answer),
        waitingFor: 'outcome_unknown',
        lookFirst: true,
        isUnknown: true,
        wantsNewKey: answer.isRecorded || isStuck(claim, key, answer, now),
      }
  }
}

/**
 * Where the look found that the ledger has moved on, only the key tells whether our call came first: it is given up
 * for a failure that the ledger keeps under it, and for nothing else.
 */
export function keepingKey(ending: Ending, answer: Answer | Refusal): Ending {
  if (ending.status !== 'processing' || isRefusal(answer)) return ending
  // A "still processing" comes from the store too.
  const isFromStore = answer.isFromStore && answer.status !== TOO_EARLY
  const isFailureKept = isFromStore || (answer.outcome === 'unknown' && answer.isRecorded)
  return { ...ending, wantsNewKey: ending.wantsNewKey && isFailureKept }
}

/** An attempt that came upon something nobody thought of: a body that is not what its shape promised, a bug of ours. */
export function brokenOff(claim: Claim, { message }: Error, mayHaveArrived: boolean): Ending {
  return {
    ...retryLater(claim, { message }),
    ...(mayHaveArrived
      ? { waitingFor: 'outcome_unknown', isUnknown: true }
      : keepWaitingForApproval(claim, 'ledger_unavailable')),
    lookFirst: claim.lookFirst || mayHaveArrived,
  }
}

/**
 * What is left by a look that failed. It was due because something may stand at the ledger: as long as no look says
 * otherwise, that is an unknown outcome, whatever the failure itself says.
 */
export function unsettled(ending: Ending): Ending {
  if (ending.status !== 'processing') return ending
  const { waitingFor } = ending
  // The other reasons keep what they wait for, and an operator can end them too.
  const isUnknown = waitingFor === 'ledger_busy' || waitingFor === 'ledger_unavailable'
  return isUnknown
    ? { ...ending, waitingFor: 'outcome_unknown', isUnknown, lookFirst: true }
    : { ...ending, lookFirst: true }
}

/** Failed for lack of time: only where nothing can have been left at the ledger. */
export function deadlineRefusal(seconds: number): Refusal {
  const message = `The ledger did not take it within ${seconds} seconds`
  return { ...refusal('504', 'loanops.deadline', message), reason: 'deadline' }
}

/** Failed because an operator said so. */
export const operatorsRefusal: Refusal = {
  ...refusal(
    '409',
    'loanops.resolved.by.operator',
    'An operator has declared this operation failed',
  ),
  reason: 'resolved_by_operator',
}

/** An outcome as `ops.operation_attempt` keeps it. */
export function recordedOutcome(outcome: Outcome): Exclude<Outcome, 'awaits_approval'> {
  return outcome === 'awaits_approval' ? 'not_now' : outcome
}

/**
 * A failed look must not end the wait for approval, or a second request would go to the approver. Only an operator's
 * `retry` ends it; what became of the first request is then unknown.
 */
function keepWaitingForApproval(
  claim: Claim,
  reason: WaitingFor,
): { waitingFor: WaitingFor; isUnknown: boolean } {
  if (claim.waitingFor !== 'ledger_approval') return { waitingFor: reason, isUnknown: false }
  return claim.resolution === 'retry'
    ? { waitingFor: 'outcome_unknown', isUnknown: true }
    : { waitingFor: 'ledger_approval', isUnknown: false }
}

function retryLater(claim: Claim, { message }: { message: string }) {
  return {
    status: 'processing' as const,
    lastError: message,
    nextTryMs: backOff(claim.number),
    lookFirst: claim.lookFirst,
    isUnknown: false,
    wantsNewKey: false,
    countsAsAttempt: true,
  }
}

/** Doubles with each claim; a random half keeps thousands of them from coming at one moment. */
function backOff(claims: number): number {
  const full = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(claims - 1, 16))
  return full / 2 + (Math.random() * full) / 2
}

/** Counted from the first "still processing" under this very key: an older doubt says nothing about a call that is young. */
function isStuck({ tooEarly }: Claim, key: string, { status }: Answer, now: Date): boolean {
  return (
    status === TOO_EARLY &&
    tooEarly?.key === key &&
    now.getTime() - Date.parse(tooEarly.since) > STUCK_KEY_MS
  )
}

function isRefusal(
  answer: Answer | Refusal,
): answer is Refusal | (Answer & { outcome: 'refused' }) {
  return answer.outcome === 'refused'
}
