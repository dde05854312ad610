import { createHash, timingSafeEqual } from 'node:crypto'
import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'

const Unauthorized = createError('UNAUTHORIZED', 'X-Internal-Token is missing or wrong', 401)

/** An onRequest hook that requires one of the tokens. Other requests are refused before their body is read. */
export function requireInternalToken(tokens: string[]) {
  const known = tokens.map(sha256)
  return async (request: FastifyRequest) => {
    const given = request.headers['x-internal-token']
    if (typeof given !== 'string' || !isOneOf(known, sha256(given))) throw new Unauthorized()
  }
}

/** Compares with every token, each in constant time, so that the duration reveals nothing about any of them. */
function isOneOf(known: Buffer[], given: Buffer): boolean {
  return known.reduce((found, token) => timingSafeEqual(token, given) || found, false)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
