import type { FastifyReply, FastifyRequest } from 'fastify'

/** The prefix makes browsers refuse a cookie of this name from anybody but this host; they accept it only over HTTPS. */
const SECURE_NAME = '__Host-loanops'
const PLAIN_NAME = 'loanops'

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

function options(request: FastifyRequest) {
  const secure = isSecure(request)
  // The prefix requires the path.
  return { path: secure ? '/' : '/console', httpOnly: true, sameSite: 'lax', secure } as const
}
