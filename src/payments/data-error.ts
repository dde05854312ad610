/**
 * Invalid values, a violated constraint, a limit such as nesting depth, and whatever an operator's own SQL raises are the
 * data's fault. Locks, time-outs and an unavailable database say nothing about it.
 */
export function isDataError(error: unknown): boolean {
  return /^(22|23|54|P0001)/.test((error as { code?: string }).code ?? '')
}
