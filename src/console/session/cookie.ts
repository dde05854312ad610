import type { FastifyReply, FastifyRequest } from 'fastify'

/** With this prefix, browsers accept the cookie only from this host and only over HTTPS. */
const SECURE_NAME = '__Host-loanops'
const PLAIN_NAME = 'loanops'

const FORM_SUFFIX = '-form'
const FORM_SECONDS = 900

const isSecure = ({ protocol }: FastifyRequest) => protocol === 'https'
const nameFor = (request: FastifyRequest) => (isSecure(request) ? SECURE_NAME : PLAIN_NAME)

export function tokenIn(request: FastifyRequest): string | undefined {
  return request.cookies[nameFor(request)]
}

/** Lax, because links in alerts must open while logged in; no other site's form sends it. */
export function keepToken(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.setCookie(nameFor(request), token, options(request))
}

export function dropToken(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(nameFor(request), options(request))
}

/** Signed, so that nobody can plant a form for somebody else to send. */
export function formIn(request: FastifyRequest): string | undefined {
  const { valid, value } = request.unsignCookie(
    request.cookies[nameFor(request) + FORM_SUFFIX] ?? '',
  )
  return valid ? value : undefined
}

export function keepForm(request: FastifyRequest, reply: FastifyReply, form: string): void {
  const limited = { ...options(request), maxAge: FORM_SECONDS, signed: true }
  reply.setCookie(nameFor(request) + FORM_SUFFIX, form, limited)
}

export function dropForm(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(nameFor(request) + FORM_SUFFIX, options(request))
}

function options(request: FastifyRequest) {
  const secure = isSecure(request)
  // The prefix requires the path `/`.
  return { path: secure ? '/' : '/console', httpOnly: true, sameSite: 'lax', secure } as const
}
