/**
 * Whether the data itself is to blame: values that do not fit, a broken rule, a limit such as the depth of nesting, or
 * what an operator's own SQL raises. Locks, time-outs and a database in trouble say nothing about it.
 */
export function isDataError(error: unknown): boolean {
  return /^(22|23|54|P0001)/.test((error as { code?: string }).code ?? '')
}
