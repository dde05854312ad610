export type FieldError = {
  defaultUserMessage: string
  parameterName?: string
  developerMessage: string
  userMessageGlobalisationCode: string
  args: { value?: unknown }[]
}

/** An answer other than 200. Without a body, it takes the servlet container's shape. */
export class Refusal extends Error {
  status: number
  body: object | undefined

  constructor(status: number, message: string, body?: object) {
    super(message)
    this.status = status
    this.body = body
  }
}

export function fieldError(
  code: string,
  parameterName: string | undefined,
  message: string,
  ...args: unknown[]
): FieldError {
  return {
    defaultUserMessage: message,
    ...(parameterName === undefined ? {} : { parameterName }),
    developerMessage: message,
    userMessageGlobalisationCode: code,
    args: args.map(value => (value === undefined || value === null ? {} : { value })),
  }
}

export function invalid(errors: FieldError[]): Refusal {
  const developer =
    'The request was invalid. This typically will happen due to validation errors which are provided.'
  const code = 'validation.msg.validation.errors.exist'
  return standard(400, developer, 'Validation errors exist.', code, errors)
}

export function domainRule(code: string, message: string, ...args: unknown[]): Refusal {
  return standard(
    403,
    'Request was understood but caused a domain rule violation.',
    'Errors contain reason for domain rule violation.',
    'validation.msg.domain.rule.violation',
    [fieldError(code, 'id', message, ...args)],
  )
}

export function notFound(code: string, message: string, ...args: unknown[]): Refusal {
  const summary = 'The requested resource is not available.'
  const errors = [fieldError(code, 'id', message, ...args)]
  return standard(404, summary, summary, 'error.msg.resource.not.found', errors)
}

export function integrityIssue(
  code: string,
  message: string,
  parameterName?: string,
  ...args: unknown[]
): Refusal {
  const developer = 'The request caused a data integrity issue to be fired by the database.'
  const errors = [fieldError(code, parameterName, message, ...args)]
  return standard(403, developer, message, code, errors)
}

/** A 503 with which Fineract refuses for good. */
export function unavailable(code: string, message: string): Refusal {
  return standard(
    503,
    'The server is currently unable to handle the request , please try after some time.',
    'The server is currently unable to handle the request , please try after some time.',
    'error.msg.platform.service.unavailable',
    [fieldError(code, 'id', message)],
  )
}

/** The refusal of a duplicate, as PostgreSQL words it. */
export function duplicateKey(constraint: string, column: string, value: string): Refusal {
  const detail = `Key (${column})=(${value}) already exists.`
  const message = `ERROR: duplicate key value violates unique constraint "${constraint}"\n  Detail: ${detail}`
  return integrityIssue('error.msg.data.integrity.issue', message)
}

/** The refusal if a database constraint is violated that Fineract has no message for. */
export function unknownIntegrityIssue(): Refusal {
  const message = 'Unknown data integrity issue with resource.'
  return integrityIssue('error.msg.unknown.data.integrity.issue', message)
}

export function unsupportedCommand(command: string | null): Refusal {
  const message = `The query parameter command has an unsupported value of: ${command}`
  const code = 'error.msg.query.parameter.value.unsupported'
  return invalid([fieldError(code, 'command', message, 'command', command)])
}

export function containerError(status: number, message = 'No error message available'): Refusal {
  return new Refusal(status, message)
}

export function notSupported(what: string): Refusal {
  const message = `The sandbox ledger does not support ${what}.`
  return standard(501, message, message, 'sandbox.not.supported', [])
}

export function standard(
  status: number,
  developerMessage: string,
  defaultUserMessage: string,
  code: string,
  errors?: FieldError[],
): Refusal {
  return new Refusal(status, defaultUserMessage, {
    developerMessage,
    httpStatusCode: String(status),
    defaultUserMessage,
    userMessageGlobalisationCode: code,
    ...(errors === undefined ? {} : { errors }),
  })
}
