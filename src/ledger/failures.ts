import { type Answer, isDown, isOfLedgerShape } from './answer.ts'

/** One loan may make the ledger stumble each time it is touched; so many in a row, and nothing else, are an outage. */
const SUBJECTS_TO_OPEN = 5
const FIRST_TRIAL_MS = 1_000
/** An outage may take hours; its end is seen within so long. */
const MAX_BETWEEN_TRIALS_MS = 5_000

/**
 * Longer than a call, its back-off and the pause between trials take together. Where nothing has failed for so long,
 * nothing waits: an operator ended it, say, and no operation would ever tell that the outage is over.
 */
const FORGET_AFTER_MS = 120_000

/** Whether the ledger, though it answers, fails for one loan or client after the other. */
export type Failures = {
  /** @param answer what decided an attempt: a read that works says nothing about the write that fails behind it */
  note(subject: string, answer: Answer): void
  isOutage(): boolean
  lastError(): string | null
  /** Only operations can tell that the outage is over. Says yes once per pause, which grows from trial to trial. */
  isTrialDue(): boolean
}

export function openFailures(now = Date.now): Failures {
  const subjects = new Set<string>()
  let lastError: string | null = null
  let trialAt = 0
  let pauseMs = FIRST_TRIAL_MS
  let failedAt = Number.NEGATIVE_INFINITY
  const isForgotten = () => now() - failedAt >= FORGET_AFTER_MS
  const isOutage = () => subjects.size >= SUBJECTS_TO_OPEN && !isForgotten()

  return {
    isOutage,
    lastError: () => lastError,
    note(subject, answer) {
      if (isFailure(answer)) {
        if (isForgotten()) forget()
        lastError = answer.message
        failedAt = now()
        // An outage may meet any number of loans; these say enough.
        if (!isOutage()) subjects.add(subject)
      } else if (isWord(answer)) {
        forget()
      }
    },
    isTrialDue() {
      if (!isOutage() || now() < trialAt) return false
      trialAt = now() + pauseMs
      pauseMs = Math.min(2 * pauseMs, MAX_BETWEEN_TRIALS_MS)
      return true
    },
  }

  function forget() {
    subjects.clear()
    pauseMs = FIRST_TRIAL_MS
  }
}

/** A 500, or a page of something that is not the ledger: it answered, and nothing can come of it. */
function isFailure(answer: Answer): boolean {
  const { status, body, outcome } = answer
  if (status === null || isDown(answer) || status === 409 || status === 425) return false
  return ['unknown', 'not_arrived'].includes(outcome) && (status >= 500 || !isOfLedgerShape(body))
}

/** The ledger's own word on an operation, be it yes or no. */
function isWord({ status, outcome }: Answer): boolean {
  return status !== null && ['done', 'refused', 'awaits_approval'].includes(outcome)
}
