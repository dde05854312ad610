import { dayText } from '../day.ts'
import { loanSubject, operation } from '../engine/operation.ts'
import { refuseRemoved } from '../engine/refuse-lagging.ts'
import { DayField } from '../http/fields/day-fields.ts'
import { only } from '../http/fields/schemas.ts'
import { ExternalId } from '../http/fields/text-fields.ts'
import { contradicted } from '../ledger/answers/answer.ts'
import { dayFormat, laterDay } from '../ledger/day-format.ts'
import { absent, compared, dayThere, differencesIn, type Effect } from '../ledger/effect.ts'
import { APPROVED, foundIn, type LedgerLoan, loanAnswer, SUBMITTED } from '../ledger/loans/loan.ts'
import { approveLoan, findLoan, readLoan } from '../ledger/loans/loan-calls.ts'

const NAME = 'LOAN_APPROVE'
const NOT_SUBMITTED = 'error.msg.loan.approve.account.is.not.submitted.and.pending.state'

export const loanApprove = operation({
  name: NAME,
  summary: 'Approves a submitted loan',
  permissions: ['APPROVE_LOAN'],
  loanState: 'approved',
  schema: only({ external_loan_id: ExternalId, approvedOnDate: DayField }),
  externalId: data => data.external_loan_id,
  subject: data => loanSubject(data.external_loan_id),

  async run(attempt, { external_loan_id, approvedOnDate }) {
    const found = await readLoan(attempt.ledger, external_loan_id)
    if (found.outcome === 'refused') return found
    const expected = found.body.timeline.expectedDisbursementDate
    // Fineract refuses an approval after the expected disbursement; a later expected day stays.
    const expectedDisbursementDate =
      expected === undefined ? approvedOnDate : laterDay(dayText(expected), approvedOnDate)
    if (expectedDisbursementDate !== approvedOnDate) await refuseRemoved(attempt, found)
    const answer = await approveLoan(attempt, external_loan_id, {
      approvedOnDate,
      expectedDisbursementDate,
      ...dayFormat,
    })
    const wasSubmitted = answer.code === NOT_SUBMITTED && found.body.status.id === SUBMITTED
    if (!wasSubmitted) return answer
    // A read that lags may show the loan as it was before an earlier approval of ours.
    const { done } = await attempt.recentlyDone()
    return done.at(-1)?.operationType === NAME ? answer : contradicted(answer)
  },

  async find({ ledger }, { external_loan_id, approvedOnDate }) {
    const loan = await findLoan(ledger, external_loan_id)
    if (loan === undefined) return absent
    const effect = approvalEffect(loan, approvedOnDate)
    return effect.state === 'there' ? foundIn(APPROVED, loan, effect.body) : absent
  },

  async findEqual({ ledger }, { external_loan_id, approvedOnDate }) {
    const loan = await findLoan(ledger, external_loan_id)
    return loan === undefined ? absent : approvalEffect(loan, approvedOnDate)
  },
})

function approvalEffect(loan: LedgerLoan, approvedOnDate: string): Effect {
  const { status, timeline } = loan
  if (status.id < APPROVED) return absent
  const body = {
    ...loanAnswer(loan),
    changes: {
      status,
      approvedOnDate,
      expectedDisbursementDate: timeline.expectedDisbursementDate,
      ...dayFormat,
    },
  }
  const approved = loan.approvedPrincipal ?? loan.proposedPrincipal
  return compared(
    body,
    differencesIn(
      ['approvedOnDate', dayThere(timeline.approvedOnDate), approvedOnDate],
      // We always approve the requested amount: a different one is someone else's approval.
      ['the approved amount', approved, loan.proposedPrincipal],
    ),
  )
}
