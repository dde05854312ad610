import { DIFFERS, refusal } from '../../engine/refusal.ts'
import { type Answer, settingRefused } from '../../ledger/answers/answer.ts'
import { codeOf } from '../../ledger/answers/error-body.ts'
import { isPast } from '../../ledger/day-format.ts'
import type { OWN_REFUSALS } from '../suspense-reasons.ts'

/**
 * `withdrawn`: later events stopped it before it was sent, and decide what the payment is. `unconfirmed`:
 * the gateway is asked first. `nothing_left`: all of it went back before it was posted.
 */
export const PASSING_REASONS = ['withdrawn', 'unconfirmed', 'nothing_left'] as const
export type RefusalReason = (typeof OWN_REFUSALS | typeof PASSING_REASONS)[number]

/** The reason is what LoanOps knows of the money's other id, not what the ledger has. */
export const TWIN = 'twin'

const REASONS_BY_LEDGER_CODE: Record<string, RefusalReason> = {
  'error.msg.loan.external.id.invalid': 'loan_unknown',
  'error.msg.loan.must.be.active.fully.paid.or.overpaid': 'loan_not_active',
  // Newer ledgers can be set up to refuse with this code.
  'error.msg.loan.transaction.not.allowed.on.closed.or.overpaid': 'loan_not_active',
}

export function refusedFor(reason: RefusalReason, httpStatusCode: string, message: string) {
  return refusal(httpStatusCode, codeFor(reason), message, reason)
}

const codeFor = (reason: RefusalReason) => `loanops.${reason}` as const

/** Which of these codes the ledger uses depends on its database. */
const DUPLICATE = /value\.must\.be\.unique|duplicate\.externalId|unknown\.data\.integrity\.issue/
const OTHER_AT_LEDGER = [DIFFERS, codeFor('reversal_refused')]

export const isDuplicate = (code: string | null): boolean => DUPLICATE.test(code ?? '')

/** Whether the ledger may have the money already, booked by hand or under an external id that it keeps reserved. */
export function mayBeBooked(response: object): boolean {
  const code = codeOf(response)
  return isDuplicate(code) || OTHER_AT_LEDGER.includes(code ?? '')
}

export function withReason(answer: Answer): Answer & { reason?: string } {
  if (answer.outcome !== 'refused') return answer
  return { ...answer, reason: REASONS_BY_LEDGER_CODE[answer.code ?? ''] ?? 'ledger_refused' }
}

const FUTURE_DATE_CODE = 'error.msg.loan.transaction.cannot.be.a.future.date'

/** @returns undefined unless the ledger refuses `day`, as `dd MMMM yyyy`, because its clock, or our time zone, is behind */
export function laggingClock(answer: Answer, day: string, timeZone: string): Answer | undefined {
  return answer.code === FUTURE_DATE_CODE && isPast(day, timeZone)
    ? settingRefused(answer, 'LEDGER_TIMEZONE, or the ledger’s business date,')
    : undefined
}
