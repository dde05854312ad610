import { STATUS_CODES } from 'node:http'
import createError from '@fastify/error'
import { Type } from '@sinclair/typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  isDeadlock,
  isLocked,
  isLoginRefused,
  isTimeout,
  isTransient,
} from '../database/transient.ts'
import { Unavailable } from '../database/unavailable.ts'
import { titled } from './fields/schemas.ts'
import { logFailure } from './log-failure.ts'
import { refuseOtherMethod } from './other-methods.ts'
import { sendRetryAfter } from './retry-after.ts'

export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: 'a stable code for programs to act on' }),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Array(
        titled('FieldError', {
          path: Type.String({ description: 'JSON pointer' }),
          message: Type.String(),
        }),
      ),
    ),
  },
  { title: 'Problem', description: 'application/problem+json (RFC 9457)' },
)

/** A longer list of errors would help nobody. */
export const MAX_FIELD_ERRORS = 100
export type FieldError = {
  path: string
  message: string
  /** Whether the message is a whole sentence, which the console shows without the field's name. Answers leave this member out. */
  isSentence?: true
}

type Failure = { status: number; code: string; detail: string; fields?: FieldError[] | undefined }
type InvalidPart = 'INVALID_PAYLOAD' | 'INVALID_QUERY' | 'INVALID_HEADER'

export class FieldErrors extends createError('INVALID_PAYLOAD', 'The body is invalid', 400) {
  readonly fields: FieldError[]
  constructor(code: InvalidPart, fields: FieldError[], what?: string) {
    super()
    Object.assign(this, { code })
    const part = what ?? (code === 'INVALID_QUERY' ? 'query' : 'body')
    this.message = `The ${part} is invalid: ${fields.map(f => `${f.path} ${f.message}`.trim()).join('; ')}`
    this.fields = fields
  }
}

/** @param path JSON pointer of the field; empty for the whole body */
export const invalidField = (
  path: string,
  message: string,
  code: InvalidPart = 'INVALID_PAYLOAD',
) => new FieldErrors(code, [{ path, message }])

export const NotFound = createError('NOT_FOUND', '%s', 404)
export const Conflict = createError('CONFLICT', '%s', 409)
export const PayloadTooLarge = createError('PAYLOAD_TOO_LARGE', '%s', 413)

export function notFound(request: FastifyRequest, reply: FastifyReply) {
  refuseOtherMethod(request, reply)
  const detail = `No route for ${request.method} ${pathOf(request)}`
  return sendProblem(request, reply, { status: 404, code: 'NOT_FOUND', detail })
}

/** Answers an error; the details of a 5xx go only to the log. */
export function errorHandler(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const problem = problemOf(error)
  const { status } = problem
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    problem.detail = `The body is larger than ${request.routeOptions.bodyLimit / 1024} KiB`
  if (status >= 500) logFailure(request, error)
  sendRetryAfter(reply, error, status)
  return sendProblem(request, reply, problem)
}

/** @param error may name the invalid fields, as FieldErrors do */
export function problemOf(error: FastifyError & { fields?: FieldError[] }): Failure {
  const { status, code } = classified(error)
  const detail = status < 500 ? detailOf4xx(error) : detailOf5xx(error, code)
  return { status, code, detail, fields: error.fields }
}

/** The scheme that a 401 asks for, by its code; never Basic, for which browsers would ask people. */
const CHALLENGES: Record<string, string> = {
  UNAUTHORIZED: 'X-Internal-Token realm="LoanOps", Bearer realm="LoanOps"',
  INVALID_CREDENTIALS: 'Password realm="LoanOps"',
  INVALID_SIGNATURE: 'Signature realm="LoanOps"',
}

function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, code, detail, fields: errors }: Failure,
) {
  if (status === 401) reply.header('www-authenticate', CHALLENGES[code])
  return reply
    .code(status)
    .type('application/problem+json')
    .send({
      type: 'about:blank',
      title: STATUS_CODES[status] ?? 'Error',
      status,
      detail,
      code,
      request_id: request.id,
      ...(errors && { errors: errors.map(({ path, message }) => ({ path, message })) }),
    })
}

/** An error with a status is not recognised by its message, which may quote the caller. */
function classified(error: FastifyError): { status: number; code: string } {
  const { statusCode: status } = error
  if (status === undefined)
    return isTransient(error) || isLoginRefused(error)
      ? { status: 503, code: 'UNAVAILABLE' }
      : { status: 500, code: 'INTERNAL' }
  if (!error.code?.startsWith('FST_'))
    return { status, code: status === 500 ? 'INTERNAL' : error.code }
  if (status === 413) return { status, code: 'PAYLOAD_TOO_LARGE' }
  if (status === 415) return { status, code: 'UNSUPPORTED_MEDIA_TYPE' }
  return status < 500 ? { status: 400, code: 'INVALID_PAYLOAD' } : { status, code: 'INTERNAL' }
}

function detailOf4xx({ code, message }: FastifyError) {
  return code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
    ? 'The content-type must be one media type, such as application/json; charset=utf-8'
    : message
}

function detailOf5xx(error: FastifyError, code: string) {
  if (error instanceof Unavailable) return error.message
  if (isTimeout(error) || isDeadlock(error) || isLocked(error))
    return 'The database is busy, or another change to the same data was under way. Try again'
  return code === 'UNAVAILABLE'
    ? 'The database cannot be reached, or has no room, memory or connection left'
    : 'Internal error; see the log for this request_id'
}

const pathOf = (request: FastifyRequest) => request.url.split('?', 1)[0]
