import { fastifyJwt, type TokenOrHeader } from '@fastify/jwt'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import { MAX_INT } from '../../config/settings/settings.ts'
import type { Database } from '../../database/database.ts'
import { oneOf } from '../../http/fields/schemas.ts'
import { newId, UUID } from '../../ids.ts'
import { type Account, ROLES, type Role } from '../account.ts'
import { tokenKeys } from './token-keys.ts'

const ISSUER = 'loanops'
/** The algorithm is pinned: a token with a different algorithm, or none, is refused whatever its signature. */
const ALGORITHM = 'HS256'

export type Claims = {
  sub: string
  name: string
  role: Role
  gen: number
  jti: string
  began?: number
}

/** A token for the API does not open the console, nor the reverse. */
type TokenUse = {
  audience: string
  ttlSeconds?: number
  extractToken?: (request: FastifyRequest) => string | undefined
}

const FOR_API: TokenUse = { audience: 'loanops-api' }

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the account's password was reset, so its tokens can only change it. */
    mustChangePassword: boolean
  }
  interface FastifyContextConfig {
    /** Whether the call is open to an account whose password was reset. */
    isForOneTimePassword?: boolean
  }
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Claims
    user: Claims
  }
}

/** Adds `request.jwtVerify()`, which also checks in the database whether the token is still valid. */
export function accessTokens(db: Database, config: Config, use = FOR_API) {
  const { audience, ttlSeconds = config.JWT_TTL_SECONDS, ...extraction } = use
  const { kid, signing, keys } = tokenKeys(config.JWT_SECRET)
  return fastifyPlugin(async (app: FastifyInstance) => {
    app.decorateRequest('mustChangePassword', false)
    await app.register(fastifyJwt, {
      secret: {
        private: signing,
        // An unknown key id is verified with the first key, so that it fails like any wrong signature.
        public: async (_: FastifyRequest, token: TokenOrHeader) =>
          keys.get('header' in token ? token.header.kid : token.kid) ?? signing,
      },
      decode: { complete: true },
      sign: { algorithm: ALGORITHM, kid, iss: ISSUER, aud: audience, expiresIn: ttlSeconds },
      verify: {
        algorithms: [ALGORITHM],
        allowedIss: ISSUER,
        allowedAud: audience,
        requiredClaims: ['iss', 'aud', 'exp', 'sub', 'jti'],
        ...extraction,
      },
      trusted: async (request, claims) => {
        const found = await validAccount(db, claims)
        request.mustChangePassword = found?.mustChangePassword === true
        return found !== undefined
      },
    })
  })
}

export function issueToken(app: FastifyInstance, account: Account): string {
  const { id, username, role, tokenGeneration } = account
  return app.jwt.sign({ sub: id, name: username, role, gen: tokenGeneration, jti: newId() })
}

/** Only the claims that we issue: anything else matches no account and would make PostgreSQL raise an error. */
const OwnClaims = TypeCompiler.Compile(
  Type.Object({
    sub: Type.String({ pattern: UUID }),
    role: oneOf(ROLES),
    gen: Type.Integer({ minimum: 0, maximum: MAX_INT }),
    jti: Type.String({ pattern: UUID }),
  }),
)

/** The account of a token, checked on each use, so that disabling an account, or a logout, ends its tokens at once. */
async function validAccount(db: Database, claims: unknown) {
  if (!OwnClaims.Check(claims)) return undefined
  const { sub, role, gen, jti } = claims
  const { rows } = await sql<Pick<Account, 'mustChangePassword'>>`
    select must_change_password as "mustChangePassword" from loanops.account
     where id = ${sub} and disabled_at is null and role = ${role}
       and (token_generation = ${gen} or kept_token = ${jti})
       and not exists (select from loanops.ended_login where id = ${jti})`.execute(db)
  return rows[0]
}
