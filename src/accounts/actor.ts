import createError from '@fastify/error'
import type { VerifyOptions } from '@fastify/jwt'
import type { FastifyRequest } from 'fastify'
import type { Claims } from './access-token.ts'
import type { Role } from './account.ts'
import { addressOf } from './address.ts'
import type { Asker } from './audit.ts'
import { callerOf } from './internal-token.ts'

/** The actor of a call without an access token. No account may have this name. */
export const INTERNAL_TOKEN_ACTOR = 'internal-token'

export const Unauthenticated = createError(
  'UNAUTHORIZED',
  'The access token is missing, invalid, expired or revoked',
  401,
)
const PasswordMustBeChanged = createError(
  'UNAUTHORIZED',
  'The password was reset: this token only changes it, by POST /api/account/password',
  401,
)
const Forbidden = createError('FORBIDDEN', 'Only an administrator may do this', 403)
const MayOnlyLook = createError('FORBIDDEN', 'Viewers have read-only access', 403)

export async function askerOf(request: FastifyRequest): Promise<Asker> {
  const account = await accountOf(request)
  refuseViewer(account)
  return askerAs(account?.name ?? INTERNAL_TOKEN_ACTOR, request)
}

export async function readerOf(request: FastifyRequest): Promise<Asker> {
  return askerAs((await accountOf(request))?.name ?? INTERNAL_TOKEN_ACTOR, request)
}

export function refuseViewer(account: Pick<Claims, 'role'> | undefined): void {
  if (account?.role === 'viewer') throw new MayOnlyLook()
}

async function accountOf(request: FastifyRequest): Promise<Claims | undefined> {
  return request.headers.authorization === undefined ? undefined : await verified(request)
}

/** An onRequest hook: a caller that means to be somebody is not taken for nobody, even where nobody in particular may read. */
export async function refuseFalseCredentials(request: FastifyRequest): Promise<void> {
  const { authorization } = request.headers
  if (authorization === undefined) return
  // Of two headers, Node would keep the first.
  const { authorization: all } = request.raw.headersDistinct
  if (!/^bearer\b/i.test(authorization) || all?.length !== 1) throw new Unauthenticated()
  if (request.routeOptions.config.isLogin !== true) await verified(request)
}

export function askerAs(actor: string, request: FastifyRequest): Asker {
  return { actor, caller: callerOf(request), address: addressOf(request), requestId: request.id }
}

/** An onRequest hook: others are refused before their body is read. */
export function requireAccount(role?: Role) {
  return async (request: FastifyRequest) => {
    requireRole(await verified(request), role)
  }
}

export function requireRole(account: Pick<Claims, 'role'>, role?: Role): void {
  if (role !== undefined && account.role !== role) throw new Forbidden()
}

export async function verified(
  request: FastifyRequest,
  options?: Partial<VerifyOptions>,
): Promise<Claims> {
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
