import { loanSubject, type Operation } from '../../engine/operation.ts'

export const repaymentIntake: Pick<Operation, 'name' | 'subject' | 'externalId' | 'waitsFor'> = {
  name: 'REPAYMENT',
  subject: data => loanSubject(String(data.external_loan_id)),
  externalId: data => String(data.external_loan_id),
}
