import { Type } from '@sinclair/typebox'
import { loanSubject, operation } from '../engine/operation.ts'
import { closed, ExternalId } from '../http/fields.ts'
import { absent, there } from '../ledger/held.ts'
import { type LedgerLoan, loanAnswer, loanPath } from '../ledger/loan.ts'
import { lookUp } from '../ledger/look-up.ts'

export const loanDelete = operation({
  name: 'LOAN_DELETE',
  summary: 'Deletes a loan that awaits approval',
  schema: Type.Object({ external_loan_id: ExternalId }, closed),
  externalId: data => data.external_loan_id,
  subject: data => loanSubject(data.external_loan_id),

  async run({ ledger, key, remember }, { external_loan_id }) {
    const found = await ledger.read(loanPath(external_loan_id))
    if (found.outcome === 'refused') return found
    // Afterwards there is nothing left to read: only this tells "deleted by us" from "never there".
    await remember(loanAnswer(found.body as LedgerLoan))
    return ledger.write({
      method: 'DELETE',
      path: loanPath(external_loan_id),
      key,
      promisedId: 'loanId',
    })
  },

  async find({ ledger, seen }, { external_loan_id }) {
    if (seen === null) return absent
    const loan = await lookUp<LedgerLoan>(ledger, loanPath(external_loan_id))
    return loan === undefined ? there(seen as object) : absent
  },
})
