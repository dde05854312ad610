import { createHash, timingSafeEqual } from 'node:crypto'
import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'

const Unauthorized = createError('UNAUTHORIZED', 'X-Internal-Token is missing or wrong', 401)

/** Lets a request pass that carries one of the tokens; the others end here, before their body is read. */
export function requireInternalToken(tokens: string[]) {
  const known = tokens.map(sha256)
  return async (request: FastifyRequest) => {
    const given = request.headers['x-internal-token']
    if (typeof given !== 'string' || !isOneOf(known, sha256(given))) throw new Unauthorized()
  }
}

/** Every token is compared, each in constant time: how long it takes tells nothing about any of them. */
function isOneOf(known: Buffer[], given: Buffer): boolean {
  return known.reduce((found, token) => timingSafeEqual(token, given) || found, false)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
