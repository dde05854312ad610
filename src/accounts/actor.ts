import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'
import type { Role } from './account.ts'
import { addressOf } from './address.ts'
import type { Asker } from './audit.ts'

/** The actor of a call that carries no account. No account may have this name. */
export const INTERNAL_TOKEN_ACTOR = 'internal-token'

const Unauthenticated = createError(
  'UNAUTHORIZED',
  'The access token is missing, wrong, expired, or its account does not stand behind it any more',
  401,
)
const Forbidden = createError('FORBIDDEN', 'This is for administrators', 403)

/** The account's name where a valid Bearer token came along. @throws Unauthenticated where a wrong one did */
async function actorOf(request: FastifyRequest): Promise<string> {
  const hasToken = /^bearer\b/i.test(request.headers.authorization ?? '')
  return hasToken ? (await verified(request)).name : INTERNAL_TOKEN_ACTOR
}

/** Who asks, for the audit. */
export async function askerOf(request: FastifyRequest): Promise<Asker> {
  return askerAs(await actorOf(request), request)
}

/** The same, where who asks is known already. */
export function askerAs(actor: string, request: FastifyRequest): Asker {
  return { actor, address: addressOf(request), requestId: request.id }
}

/** An onRequest hook: lets only accounts pass, with `role` only those; the others end before their body is read. */
export function requireAccount(role?: Role) {
  return async (request: FastifyRequest) => {
    const user = await verified(request)
    if (role !== undefined && user.role !== role) throw new Forbidden()
  }
}

async function verified(request: FastifyRequest) {
  try {
    await request.jwtVerify()
    return request.user
  } catch (error) {
    // What exactly is wrong with a token helps only those who forge one. A database out of reach is no one's fault.
    if (/^(FST|FAST)_JWT_/.test((error as { code?: string }).code ?? ''))
      throw new Unauthenticated()
    throw error
  }
}
