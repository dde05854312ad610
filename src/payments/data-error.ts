/** Locks, time-outs and an unavailable database are not the data's fault. */
export function isDataError(error: unknown): boolean {
  return /^(22|23|54|P0001)/.test((error as { code?: string }).code ?? '')
}
