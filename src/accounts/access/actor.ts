import createError from '@fastify/error'
import type { VerifyOptions } from '@fastify/jwt'
import type { FastifyRequest } from 'fastify'
import { addressOf } from '../address.ts'
import type { Asker } from '../audit.ts'
import type { Claims } from '../tokens/access-token.ts'
import { callerOf } from '../tokens/internal-token.ts'

/** The actor of a call without an access token. No account may have this name. */
export const INTERNAL_TOKEN_ACTOR = 'internal-token'

export const Unauthenticated = createError(
  'UNAUTHORIZED',
  'The access token is missing, invalid, expired or revoked',
  401,
)
const PasswordMustBeChanged = createError(
  'UNAUTHORIZED',
  'The password was reset: this token can only change it, by POST /api/account/password',
  401,
)

export function askerOf(request: FastifyRequest): Asker {
  // The account; null where no access token was sent.
  const account: Claims | null = request.user
  return askerAs(account?.name ?? INTERNAL_TOKEN_ACTOR, request)
}

/** An onRequest hook: refuses wrong credentials, even where none are needed besides the internal token. */
export async function refuseFalseCredentials(request: FastifyRequest): Promise<void> {
  const { authorization } = request.headers
  if (authorization === undefined) return
  // Node would keep the first of two headers.
  const { authorization: all } = request.raw.headersDistinct
  if (!/^bearer\b/i.test(authorization) || all?.length !== 1) throw new Unauthenticated()
  if (request.routeOptions.config.needs !== 'nothing') await verifyToken(request)
}

export function askerAs(actor: string, request: FastifyRequest): Asker {
  return { actor, caller: callerOf(request), address: addressOf(request), requestId: request.id }
}

export async function verifyToken(request: FastifyRequest, options?: Partial<VerifyOptions>) {
  try {
    const claims = await request.jwtVerify<Claims>(options)
    if (request.mustChangePassword && request.routeOptions.config.isForOneTimePassword !== true)
      throw new PasswordMustBeChanged()
    return claims
  } catch (error) {
    // Saying what exactly is wrong with a token would only help a forger.
    if (/^(FST|FAST)_JWT_/.test((error as { code?: string }).code ?? ''))
      throw new Unauthenticated({ cause: error })
    throw error
  }
}
