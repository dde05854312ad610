export type PublicError = {
  type: string
  message: string
  code: string | undefined
  stack?: string | undefined
  cause?: PublicError
}

/** PostgreSQL quotes invalid values in `detail` and `where`, and in the messages of data errors. */
export function publicError(error: Error & { code?: string }): PublicError {
  const { name, code, cause } = error
  const message = isAboutData(code) ? error.message.replace(/".*"/s, '"…"') : messageOf(error)
  return {
    type: name,
    message,
    code,
    stack: isAboutData(code) ? error.stack?.replace(error.message, () => message) : error.stack,
    ...(cause instanceof Error ? { cause: publicError(cause) } : {}),
  }
}

/** Node gives no message to the failure of a host with several addresses, as localhost often is. */
export function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message
  return error.errors.map(({ message }) => message).join(', ')
}

/** Class 22 of PostgreSQL's error codes; other classes quote only names of tables, columns and constraints. */
const isAboutData = (code: unknown) => /^22[0-9A-Z]{3}$/.test(String(code))

/** What people see who see no log. A fault of LoanOps's own code means nothing to them. */
export function publicReason(error: unknown): string {
  const isOwnFault = OWN_FAULTS.some(kind => error instanceof kind)
  return isOwnFault ? 'LoanOps failed: its log has the reason' : publicError(error as Error).message
}

const OWN_FAULTS = [TypeError, RangeError, ReferenceError, SyntaxError]
