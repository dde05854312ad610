import { approval, clientData, DAY, disbursal, loanData } from '../support/loans.ts'

/** What one caller sends back to back, without waiting for the end of any. */
export type Story = [status: string, data: object][]

/** Stories until the next lender has his turn: new raw stores come up throughout the run. */
const STORIES_PER_LENDER = 30

export const lenderOf = (number: number) =>
  `LENDER_0${1 + (Math.floor(number / STORIES_PER_LENDER) % 9)}`

/** A caller's stories by their share. */
export function story(number: number, draw: () => number): Story {
  const client = `C-${number}`
  const loan = `L-${number}`
  const start: Story = [
    ['CLIENT_CREATE', clientData(client)],
    ['LOAN_CREATE', { ...loanData(loan, client), lenderConfig: lenderOf(number) }],
  ]
  if (draw() < 0.2) {
    return [
      ...start,
      ['CLIENT_UPDATE', { externalId: client, emailAddress: `c${number}@example.in` }],
      ['LOAN_DELETE', { external_loan_id: loan }],
    ]
  }
  return [
    ...start,
    // Twice the same field: an earlier one that comes late would undo the later one.
    ['LOAN_UPDATE', { externalId: loan, principal: 60_000 }],
    ['LOAN_UPDATE', { externalId: loan, principal: 70_000 }],
    ['CLIENT_UPDATE', { externalId: client, mobileNo: `+91${number}` }],
    ['LOAN_APPROVE', approval(loan)],
    ['LOAN_DISBURSE', { ...disbursal(loan), actualDisbursementDate: DAY, note: 'chaos' }],
  ]
}
