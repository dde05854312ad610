import type { FastifyReply, FastifyRequest } from 'fastify'

/** With this prefix, browsers accept the cookie only from this host and only over HTTPS. */
const SECURE_NAME = '__Host-loanops'
const PLAIN_NAME = 'loanops'

const isSecure = ({ protocol }: FastifyRequest) => protocol === 'https'
const nameFor = (request: FastifyRequest) => (isSecure(request) ? SECURE_NAME : PLAIN_NAME)

export function tokenIn(request: FastifyRequest): string | undefined {
  return request.cookies[nameFor(request)]
}

/** The cookie is Lax, because links in alerts must open while logged in; no other site's form sends it. */
export function setToken(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.setCookie(nameFor(request), token, options(request))
}

export function dropToken(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(nameFor(request), options(request))
}

/** The cookie of a form that was sent without a session. */
export const formCookie = signedCookie('-form', 900)
/** The cookie of a login that has begun at the issuer of single sign-on. */
export const signOnCookie = signedCookie('-sign-on', 600)

/** The cookie is signed, so that nobody can plant its content for somebody else to send. */
function signedCookie(suffix: string, maxAge: number) {
  const nameOf = (request: FastifyRequest) => nameFor(request) + suffix
  return {
    read(request: FastifyRequest): string | undefined {
      const { valid, value } = request.unsignCookie(request.cookies[nameOf(request)] ?? '')
      return valid ? value : undefined
    },
    set(request: FastifyRequest, reply: FastifyReply, content: string): void {
      reply.setCookie(nameOf(request), content, { ...options(request), maxAge, signed: true })
    },
    drop(request: FastifyRequest, reply: FastifyReply): void {
      reply.clearCookie(nameOf(request), options(request))
    },
  }
}

function options(request: FastifyRequest) {
  const secure = isSecure(request)
  // The prefix requires the path `/`.
  return { path: secure ? '/' : '/console', httpOnly: true, sameSite: 'lax', secure } as const
}
