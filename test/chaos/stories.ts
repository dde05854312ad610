import { approval, clientData, DAY, disbursal, loanData } from '../support/loans.ts'

/** What one caller sends back to back, without waiting for the end of any. */
export type Story = [status: string, data: object][]

/** A caller's stories by their share. To put payments or a migration under fire, add a story of theirs. */
export function story(name: string, draw: () => number): Story {
  const client = `C-${name}`
  const loan = `L-${name}`
  const start: Story = [
    ['CLIENT_CREATE', clientData(client)],
    ['LOAN_CREATE', loanData(loan, client)],
  ]
  if (draw() < 0.2) {
    return [
      ...start,
      ['CLIENT_UPDATE', { externalId: client, emailAddress: `${name}@example.in` }],
      ['LOAN_DELETE', { external_loan_id: loan }],
    ]
  }
  return [
    ...start,
    // Twice the same field: an earlier one that comes late would undo the later one.
    ['LOAN_UPDATE', { externalId: loan, principal: 60_000 }],
    ['LOAN_UPDATE', { externalId: loan, principal: 70_000 }],
    ['CLIENT_UPDATE', { externalId: client, mobileNo: `+91${name.replace(/\D/g, '')}` }],
    ['LOAN_APPROVE', approval(loan)],
    ['LOAN_DISBURSE', { ...disbursal(loan), actualDisbursementDate: DAY, note: 'chaos' }],
  ]
}
