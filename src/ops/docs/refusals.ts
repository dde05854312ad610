import { Problem } from '../../http/problem.ts'

export const REFUSALS: Record<string, { status: number; cause: string }> = {
  INVALID_PAYLOAD: { status: 400, cause: 'The body is invalid' },
  INVALID_QUERY: { status: 400, cause: 'A parameter is unknown or invalid' },
  INVALID_HEADER: { status: 400, cause: 'A header is invalid' },
  INVALID_TRACKING_ID: { status: 400, cause: 'Not of the form <OPERATION>|<uuid>' },
  UNKNOWN_OPERATION: { status: 400, cause: '`status` is not one of the operations' },
  UNAUTHORIZED: { status: 401, cause: 'The token is missing or wrong' },
  INVALID_SIGNATURE: { status: 401, cause: 'The signature is missing or does not match' },
  INVALID_CREDENTIALS: { status: 401, cause: 'Wrong username or password' },
  FORBIDDEN: { status: 403, cause: 'The role of the token or of the account does not allow it' },
  OWN_PROPOSAL: { status: 403, cause: 'Somebody else must approve it' },
  PERSON_REQUIRED: { status: 403, cause: 'The token alone is not enough: a person must do this' },
  NOT_FOUND: { status: 404, cause: 'There is no such record or path' },
  UNKNOWN_TRACKING_ID: { status: 404, cause: 'No operation has this tracking id' },
  METHOD_NOT_ALLOWED: { status: 405, cause: 'The path does not have this method' },
  CONFLICT: { status: 409, cause: 'The call does not apply to this state' },
  EXPIRED: { status: 409, cause: 'The proposal is too old' },
  STALE: { status: 409, cause: 'What it is about has changed since it was proposed' },
  USERNAME_TAKEN: { status: 409, cause: 'An account with this name exists' },
  PRECONDITION_FAILED: { status: 412, cause: 'It has changed since it was read' },
  PAYLOAD_TOO_LARGE: { status: 413, cause: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    cause: 'The body is not sent with the content type of the call, or is compressed',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    cause: 'The key was used before with a different body: a corrected operation needs a new one',
  },
  PRECONDITION_REQUIRED: { status: 428, cause: 'The ETag must be sent as If-Match' },
  TOO_MANY_ATTEMPTS: { status: 429, cause: 'Too many failed attempts, or events' },
  INTERNAL: { status: 500, cause: 'A bug in LoanOps' },
  UNAVAILABLE: { status: 503, cause: 'Nothing can be stored or read now' },
}

type Parameter = { in: string; schema: object; example?: unknown }
export type Call = {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, object> }
  responses: Record<string, { description: string }>
  security?: object[]
  'x-refusals'?: string[]
  'x-needs'?: string
  'x-acts'?: readonly string[]
}

const RETRY_AFTER = {
  'Retry-After': { description: 'seconds to wait before retrying', schema: { type: 'integer' } },
}
const WITH_RETRY_AFTER = [429, 503]
const FOR_EVERY_ROLE = ['nothing', 'any', 'own']

export function refusalsOf(method: string, call: Call): Call['responses'] {
  const codes = codesOf(method, call)
  const byStatus = Map.groupBy(
    Object.entries(REFUSALS).filter(([code]) => codes.includes(code)),
    ([, { status }]) => status,
  )
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => [
      status,
      {
        description: found.map(([code, { cause }]) => `\`${code}\`: ${cause}`).join('; '),
        ...(WITH_RETRY_AFTER.includes(status) ? { headers: RETRY_AFTER } : {}),
        content: { 'application/problem+json': { schema: Problem } },
        'x-codes': found.map(([code]) => code),
      },
    ]),
  )
}

function codesOf(method: string, call: Call): string[] {
  const { parameters = [], security, 'x-refusals': own = [] } = call
  const { 'x-needs': needs = 'nothing', 'x-acts': acts = [] } = call
  const isWebhook = security?.length === 0
  const isChange = method !== 'get' && !isWebhook
  const hasRecord = parameters.some(one => one.in === 'path')
  const hasHeader = parameters.some(one => one.in === 'header')
  return [
    ...own,
    'INTERNAL',
    'UNAVAILABLE',
    ...(isWebhook ? [] : ['UNAUTHORIZED', 'INVALID_QUERY']),
    ...(hasHeader ? ['INVALID_HEADER'] : []),
    ...(method === 'get' ? [] : ['INVALID_PAYLOAD', 'PAYLOAD_TOO_LARGE']),
    ...(isChange ? ['UNSUPPORTED_MEDIA_TYPE'] : []),
    ...(FOR_EVERY_ROLE.includes(needs) ? [] : ['FORBIDDEN']),
    // CONFLICT: it is proposed already.
    ...(acts.length > 0 ? ['PERSON_REQUIRED', 'CONFLICT'] : []),
    // An operation has a code of its own for an unknown id.
    ...(hasRecord && !own.includes('UNKNOWN_TRACKING_ID') ? ['NOT_FOUND'] : []),
  ]
}
