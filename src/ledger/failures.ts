import { type Answer, isDown, isOfLedgerShape } from './answer.ts'

/** One loan may make the ledger fail every time; this many different ones, with no success between them, are an outage. */
const SUBJECTS_TO_OPEN = 5
const FIRST_TRIAL_MS = 1_000
/** An outage may last hours; its end is noticed within this time. */
const MAX_BETWEEN_TRIALS_MS = 5_000

/** Tells whether the ledger answers, but fails for one loan or client after another. */
export type Failures = {
  /** @param answer the one that decided an attempt: a read that succeeds says nothing about the write after it */
  note(subject: string, answer: Answer): void
  isOutage(): boolean
  lastError(): string | null
  /** Only operations can show that the outage is over. True once per pause, which grows with each trial. */
  isTrialDue(): boolean
}

export function openFailures(): Failures {
  const subjects = new Set<string>()
  let lastError: string | null = null
  let trialAt = 0
  let pauseMs = FIRST_TRIAL_MS
  const isOutage = () => subjects.size >= SUBJECTS_TO_OPEN

  return {
    isOutage,
    lastError: () => lastError,
    note(subject, answer) {
      if (isFailure(answer)) {
        lastError = answer.message
        // An outage may hit any number of loans; these are enough to tell.
        if (!isOutage()) subjects.add(subject)
      } else if (isWord(answer)) {
        subjects.clear()
        pauseMs = FIRST_TRIAL_MS
      }
    },
    isTrialDue() {
      if (!isOutage() || Date.now() < trialAt) return false
      trialAt = Date.now() + pauseMs
      pauseMs = Math.min(2 * pauseMs, MAX_BETWEEN_TRIALS_MS)
      return true
    },
  }
}

/** A 500, or a page of something that is not the ledger: an answer, but not one that helps. */
function isFailure(answer: Answer): boolean {
  const { status, body, outcome } = answer
  if (status === null || isDown(answer) || status === 409 || status === 425) return false
  return ['unknown', 'not_arrived'].includes(outcome) && (status >= 500 || !isOfLedgerShape(body))
}

/** The ledger's own answer to an operation, yes or no. */
function isWord({ status, outcome }: Answer): boolean {
  return status !== null && ['done', 'refused', 'awaits_approval'].includes(outcome)
}
