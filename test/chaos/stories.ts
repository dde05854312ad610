import { approval, clientData, DAY, disbursal, loanData } from '../support/ledger/loans.ts'
import { externalId } from '../support/portfolio/external-ids.ts'

/** The operations that one caller sends back to back, without waiting for any to end. */
export type Story = [status: string, data: object][]

/** The number of stories per lender; changing lenders creates new raw stores throughout the run. */
const STORIES_PER_LENDER = 30

/** Enough to meet each lender. */
export const NUMBER_OF_STORIES = 9 * STORIES_PER_LENDER

export const lenderOf = (number: number) =>
  `LENDER_0${1 + (Math.floor(number / STORIES_PER_LENDER) % 9)}`

export const loanOf = (number: number) => externalId('L', number)

/** The stories, each with its share. */
export function story(number: number, draw: () => number): Story {
  const client = externalId('C', number)
  const loan = loanOf(number)
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
    // The same field twice: a delayed earlier update would undo the later one.
    ['LOAN_UPDATE', { externalId: loan, principal: 60_000 }],
    ['LOAN_UPDATE', { externalId: loan, principal: 70_000 }],
    ['CLIENT_UPDATE', { externalId: client, mobileNo: `+91${number}` }],
    ['LOAN_APPROVE', approval(loan)],
    ['LOAN_DISBURSE', { ...disbursal(loan), actualDisbursementDate: DAY, note: 'chaos' }],
  ]
}
