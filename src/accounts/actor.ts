import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'
import type { Role } from './account.ts'
import { addressOf } from './address.ts'
import type { Asker } from './audit.ts'
import { callerOf } from './internal-token.ts'

/** The actor of a call without an access token. No account may have this name. */
export const INTERNAL_TOKEN_ACTOR = 'internal-token'

const Unauthenticated = createError(
  'UNAUTHORIZED',
  'The access token is missing, invalid, expired or revoked',
  401,
)
const Forbidden = createError('FORBIDDEN', 'Only an administrator may do this', 403)

/** The account's name if the request has a Bearer token. @throws Unauthenticated if that token is invalid */
async function actorOf(request: FastifyRequest): Promise<string> {
  const hasToken = /^bearer\b/i.test(request.headers.authorization ?? '')
  return hasToken ? (await verified(request)).name : INTERNAL_TOKEN_ACTOR
}

/** Who makes the request, for the audit. */
export async function askerOf(request: FastifyRequest): Promise<Asker> {
  return askerAs(await actorOf(request), request)
}

/** The same, if the actor is already known. */
export function askerAs(actor: string, request: FastifyRequest): Asker {
  return { actor, caller: callerOf(request), address: addressOf(request), requestId: request.id }
}

/** An onRequest hook that requires an account, of this role if one is given. Others are refused before their body is read. */
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
    // Saying what exactly is wrong with a token would only help a forger. Other errors, such as an unreachable database,
    // are not about the token.
    if (/^(FST|FAST)_JWT_/.test((error as { code?: string }).code ?? ''))
      throw new Unauthenticated()
    throw error
  }
}
