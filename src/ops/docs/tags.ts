/** The tags of the OpenAPI document, in its order. Generators make one class of each. */
export const TAGS = {
  health: 'Whether the service works',
  operations: 'Operations on clients and loans, and their tracking',
  migration: 'Portfolios as CSV files',
  account: 'Accounts of people',
  approvals: 'What a second person must approve',
  audit: 'Proof that the record of who did what was not changed',
  payments: 'Payments, refunds and chargebacks, and the batches that post them',
  books: 'What the gateways’ own records say, and where the money is',
  callbacks: 'The list of callbacks, and sending them again',
  webhooks: 'Events that the gateways send',
  'callback-receiver': 'What the receiver of callbacks is sent; LoanOps is the one that calls',
}
