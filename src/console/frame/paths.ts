type PaymentName = { gateway: string; gateway_payment_id: string; kind: string }

const under = (page: string) => (id: string) => `/console/${page}/${encodeURIComponent(id)}`

export const loanPath = under('loans')
export const clientPath = under('clients')
export const operationPath = under('operations')
export const migrationPath = under('portfolio')
export const statementPath = under('books/statements')
export const settlementPath = under('settlements')
export const callbackPath = under('callbacks')
export const approvalPath = under('approvals')
export const bulkPath = under('bulk')

export function paymentPath({ gateway, gateway_payment_id: id, kind }: PaymentName): string {
  const query = kind === 'payment' ? '' : `?kind=${kind}`
  return `/console/payments/${encodeURIComponent(gateway)}/${encodeURIComponent(id)}${query}`
}

/** @param named `<gateway>/<payment id>`, where the id may contain slashes too */
function paymentSubjectPath(named: string): string {
  const slash = named.indexOf('/')
  const [gateway, id] = [named.slice(0, slash), named.slice(slash + 1)]
  return paymentPath({ gateway, gateway_payment_id: id, kind: 'payment' })
}

export function subjectPath(operationType: string, externalId: string): string {
  return operationType.startsWith('CLIENT_') ? clientPath(externalId) : loanPath(externalId)
}

const PAGES: Record<string, (id: string) => string> = {
  loan: loanPath,
  client: clientPath,
  operation: operationPath,
  payment: paymentSubjectPath,
  migration: migrationPath,
  statement: statementPath,
  callback: callbackPath,
  bulk: bulkPath,
  batch: () => '/console/batches',
}

/** The page of what the database calls by this kind, if it has one. */
export const pagePath = (kind: string, id: string): string | undefined => PAGES[kind]?.(id)
