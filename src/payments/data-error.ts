type DatabaseError = { code?: string; schema?: string; table?: string }

/**
 * Whether the event's own data is at fault. Locks, time-outs and an unavailable database are not its fault, and a
 * constraint that fails on a table of ours is our fault.
 */
export function isDataError(error: unknown): boolean {
  const { code = '', schema, table } = error as DatabaseError
  if (isConstraint(error)) return schema === 'raw' || (schema === 'core' && table === 'event')
  return /^(22|54|P0001)/.test(code)
}

export function isConstraint(error: unknown): boolean {
  return /^23/.test((error as DatabaseError).code ?? '')
}
