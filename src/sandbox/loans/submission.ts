import type { Client } from '../clients/client.ts'
import { domainRule } from '../http/refusal.ts'

export function refuseSubmission(
  submittedOn: string | undefined,
  expectedOn: string | undefined,
  client: Client | undefined,
  today: string,
): void {
  if (submittedOn === undefined) return
  const refusal = (code: string, message: string, other: string) =>
    domainRule(`error.msg.loan.submittal.${code}`, message, submittedOn, other)
  const prefix = 'The date on which a loan is submitted cannot be'
  if (submittedOn > today)
    throw refusal('cannot.be.a.future.date', `${prefix} in the future.`, today)
  if (client?.activatedOn !== undefined && submittedOn < client.activatedOn) {
    const code = 'cannot.be.before.client.activation.date'
    throw refusal(code, `${prefix} earlier than client's activation date.`, client.activatedOn)
  }
  if (expectedOn !== undefined && submittedOn > expectedOn) {
    const message = `${prefix} after its expected disbursement date: ${expectedOn}`
    throw refusal('cannot.be.after.expected.disbursement.date', message, expectedOn)
  }
}
