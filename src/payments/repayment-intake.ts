import { loanSubject, type Operation } from '../engine/operation.ts'

/** What the intake needs to know; `repayment.ts` runs it. */
export const repaymentIntake: Pick<Operation, 'name' | 'subject' | 'externalId' | 'waitsFor'> = {
  name: 'REPAYMENT',
  subject: data => loanSubject(String(data.external_loan_id)),
  externalId: data => String(data.external_loan_id),
}
