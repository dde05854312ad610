export const loanPath = (externalId: string) => `/console/loans/${encodeURIComponent(externalId)}`
export const clientPath = (externalId: string) =>
  `/console/clients/${encodeURIComponent(externalId)}`
export const operationPath = (trackingId: string) =>
  `/console/operations/${encodeURIComponent(trackingId)}`

/** @param named `<gateway>/<payment id>`, where the id may contain slashes too */
export function paymentSubjectPath(named: string): string {
  const slash = named.indexOf('/')
  const [gateway, id] = [named.slice(0, slash), named.slice(slash + 1)]
  return `/console/payments/${encodeURIComponent(gateway)}/${encodeURIComponent(id)}`
}

export function subjectPath(operationType: string, externalId: string): string {
  return operationType.startsWith('CLIENT_') ? clientPath(externalId) : loanPath(externalId)
}
