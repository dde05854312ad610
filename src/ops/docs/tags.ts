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

/** The tags of the calls whose path does not begin with their tag. */
const TAG_OF: Record<string, keyof typeof TAGS> = {
  healthz: 'health',
  readyz: 'health',
  metrics: 'health',
  ledger: 'operations',
  references: 'payments',
  gateways: 'books',
  reconciliation: 'books',
  settlements: 'books',
}

/** The tag of a call: calls whose URLs begin alike are about one thing. */
export function tagOf(url: string): string {
  const [name = ''] = url.replace(/^\/(api\/)?/, '').split(/[/.]/, 1)
  return TAG_OF[name] ?? name
}
