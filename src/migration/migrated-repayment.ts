import { Type } from '@sinclair/typebox'
import { closed, Day, ExternalId, Text } from '../fields.ts'
import {
  heldRepayment,
  type LedgerRepayment,
  postRepayment,
} from '../operations/ledger-repayment.ts'
import { absent, loanSubject, operation } from '../operations/operation.ts'

/** A repayment that a file brings. Callers cannot ask for it: it is in the runner's catalogue only. */
export const migratedRepayment = operation({
  name: 'MIGRATED_REPAYMENT',
  summary: 'Posts a repayment of an uploaded file',
  schema: Type.Object(
    {
      external_loan_id: ExternalId,
      /** What it is called at the ledger. */
      external_id: Type.String(),
      date: Day,
      amount: Type.String(),
      reference: Text(255, 'pay_29QQoUBi66xm2f'),
      note: Type.Optional(Type.String()),
    },
    closed,
  ),
  externalId: data => data.external_loan_id,
  subject: data => loanSubject(data.external_loan_id),
  run: (run, data) => postRepayment(run, repaymentOf(data)),
  async find(run, data) {
    const held = await heldRepayment(run, repaymentOf(data))
    return held.state === 'there' ? held : absent
  },
  holds: (run, data) => heldRepayment(run, repaymentOf(data)),
})

export type MigratedRepayment = {
  external_loan_id: string
  external_id: string
  date: string
  amount: string
  reference: string
  note?: string
}

export function repaymentOf(data: MigratedRepayment): LedgerRepayment {
  return {
    loanExternalId: data.external_loan_id,
    externalId: data.external_id,
    day: data.date,
    amount: data.amount,
    receiptNumber: data.reference,
    ...(data.note === undefined ? {} : { note: data.note }),
  }
}
