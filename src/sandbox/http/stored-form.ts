const RESULT_MEMBERS =
  `commandId officeId groupId clientId loanId savingsId resourceId subResourceId
  transactionId changes creditBureauReportData resourceIdentifier productId gsimId glimId
  rollbackTransaction resourceExternalId subResourceExternalId`.split(/\s+/)

/** How Fineract stores a result where its filter did not capture the response: with null members. */
export function withNulls(result: object): string {
  const members = result as Record<string, unknown>
  const all = RESULT_MEMBERS.map(name => [name, members[name] ?? null])
  return JSON.stringify({ ...Object.fromEntries(all), rollbackTransaction: false })
}

export function storedError(status: number, message: string, body: object | undefined): string {
  return status === 500 || body === undefined
    ? JSON.stringify({ Exception: message })
    : JSON.stringify(body)
}
