import { hash, timingSafeEqual } from 'node:crypto'
import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'
import type { InternalToken } from '../../config/secrets.ts'
import type { TokenRole } from '../../config/settings/access-settings.ts'

const Unauthorized = createError('UNAUTHORIZED', 'X-Internal-Token is missing or wrong', 401)

declare module 'fastify' {
  interface FastifyRequest {
    /** The name of the token that the request carries; absent on a page of the console, which carries none. */
    caller?: string | null
    /** The token's role; null if the token may make every call. */
    tokenRole: TokenRole | null
  }
}

/** An onRequest hook: other requests are refused before their body is read. */
export function requireInternalToken(tokens: InternalToken[]) {
  const known = tokens.map(({ token, ...named }) => ({ hash: sha256(token), ...named }))
  return async (request: FastifyRequest) => {
    const given = request.headers['x-internal-token']
    const match = typeof given === 'string' ? matchOf(known, sha256(given)) : undefined
    if (match === undefined) throw new Unauthorized()
    request.caller = match.caller
    request.tokenRole = match.role
  }
}

export function callerOf(request: FastifyRequest): string | null {
  return request.caller ?? null
}

type Known = Omit<InternalToken, 'token'> & { hash: Buffer }

/**
 * The token that was given. Every token is compared, each in constant time, so that the duration reveals nothing
 * about any of them.
 */
const matchOf = (known: Known[], given: Buffer): Known | undefined =>
  known.filter(({ hash }) => timingSafeEqual(hash, given))[0]

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')
