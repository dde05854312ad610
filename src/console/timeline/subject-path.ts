export const loanPath = (externalId: string) => `/console/loans/${encodeURIComponent(externalId)}`
export const clientPath = (externalId: string) =>
  `/console/clients/${encodeURIComponent(externalId)}`
export const operationPath = (trackingId: string) =>
  `/console/operations/${encodeURIComponent(trackingId)}`

export function subjectPath(operationType: string, externalId: string): string {
  return operationType.startsWith('CLIENT_') ? clientPath(externalId) : loanPath(externalId)
}
