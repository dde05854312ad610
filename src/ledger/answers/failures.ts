import { type Answer, isDown, TOO_EARLY } from './answer.ts'
import { isOfLedgerShape } from './error-body.ts'

/**
 * A single loan may make the ledger fail every time; this many different ones without a success in between
 * are an outage.
 */
const SUBJECTS_TO_OPEN = 5
const FIRST_TEST_MS = 1_000
const MAX_BETWEEN_TESTS_MS = 5_000

/**
 * Longer than a call, its back-off and the pause between two recovery tests together: by then no operation is waiting, and
 * none would ever show that the outage is over.
 */
const FORGET_AFTER_MS = 120_000

/** If more loans than this fail every time, their owners have an outage. */
const MAX_REMEMBERED = 1_000

export function openFailures(now = () => performance.now()) {
  const subjects = new Set<string>()
  /** These failed while others did not: their failures show nothing about the ledger. */
  const byThemselves = new Set<string>()
  let lastError: string | null = null
  let testAt = 0
  let pauseMs = FIRST_TEST_MS
  let failedAt = Number.NEGATIVE_INFINITY
  let decidedAt = now()
  const isForgotten = () => now() - failedAt >= FORGET_AFTER_MS
  const isOutage = () => subjects.size >= SUBJECTS_TO_OPEN && !isForgotten()

  return {
    isOutage,
    lastError: () => lastError,
    note(subject: string, answer: Answer): void {
      if (isFailure(answer)) {
        if (isForgotten()) forget()
        // No other call has shown for this long that the ledger works.
        if (now() - decidedAt >= FORGET_AFTER_MS) byThemselves.clear()
        lastError = answer.message
        failedAt = now()
        // An outage may affect any number of loans.
        if (!byThemselves.has(subject) && subjects.size < MAX_REMEMBERED) subjects.add(subject)
      } else if (isLedgersDecision(answer)) {
        decidedAt = now()
        for (const failed of subjects) byThemselves.add(failed)
        byThemselves.delete(subject)
        // Another process may have seen the oldest ones succeed.
        for (const oldest of byThemselves) {
          if (byThemselves.size <= MAX_REMEMBERED) break
          byThemselves.delete(oldest)
        }
        forget()
      }
    },
    /** Only operations can show that the outage is over. True once per pause, which grows with each test. */
    isRecoveryTestDue(): boolean {
      if (!isOutage() || now() < testAt) return false
      testAt = now() + pauseMs
      pauseMs = Math.min(2 * pauseMs, MAX_BETWEEN_TESTS_MS)
      return true
    },
  }

  function forget() {
    subjects.clear()
    pauseMs = FIRST_TEST_MS
  }
}

/** Any other 4xx in the ledger's shape that it recorded without deciding tells of its database. */
function isFailure(answer: Answer): boolean {
  const { status, body, outcome, isRecorded } = answer
  if (status === null || isDown(answer) || status === 409 || status === TOO_EARLY) return false
  const isOfServer = status >= 500 || !isOfLedgerShape(body) || isRecorded
  return ['unknown', 'not_arrived'].includes(outcome) && isOfServer
}

/** Only a decision of the ledger itself shows that it works. */
const isLedgersDecision = ({ status, outcome }: Answer): boolean =>
  status !== null && ['done', 'refused', 'awaits_approval'].includes(outcome)
