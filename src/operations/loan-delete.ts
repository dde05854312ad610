import { loanSubject, operation } from '../engine/operation.ts'
import { refuseRemoved } from '../engine/refuse-lagging.ts'
import { only } from '../http/fields/schemas.ts'
import { ExternalId } from '../http/fields/text-fields.ts'
import { absent, there } from '../ledger/effect.ts'
import { loanAnswer } from '../ledger/loans/loan.ts'
import { deleteLoan, findLoan, readLoan } from '../ledger/loans/loan-calls.ts'

export const loanDelete = operation({
  name: 'LOAN_DELETE',
  summary: 'Deletes a loan that awaits approval',
  permissions: ['DELETE_LOAN'],
  loanState: 'deleted',
  schema: only({ external_loan_id: ExternalId }),
  externalId: data => data.external_loan_id,
  subject: data => loanSubject(data.external_loan_id),

  async run(attempt, { external_loan_id }) {
    // What was seen before a call that may have deleted the loan outranks a read, because replicas lag.
    if (attempt.seen === null || !attempt.mayStillRun) {
      const found = await readLoan(attempt.ledger, external_loan_id)
      if (found.outcome === 'refused') return found
      await refuseRemoved(attempt, found)
      // After the deletion there is nothing to read: only this distinguishes "deleted by us" from "never there".
      await attempt.remember(loanAnswer(found.body))
    }
    return deleteLoan(attempt, external_loan_id)
  },

  async find({ ledger, seen }, { external_loan_id }) {
    if (seen === null) return absent
    const loan = await findLoan(ledger, external_loan_id)
    return loan === undefined ? there(seen as object) : absent
  },
})
