import { fastifyJwt, type TokenOrHeader } from '@fastify/jwt'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { sql } from 'kysely'
import type { Config } from '../config/config.ts'
import { MAX_INT } from '../config/settings.ts'
import type { Database } from '../database/database.ts'
import { oneOf } from '../http/schemas.ts'
import { newId, UUID } from '../ids.ts'
import { type Account, ROLES, type Role } from './account.ts'
import { tokenKeys } from './token-keys.ts'

const ISSUER = 'loanops'
/** Pinned: a token with another algorithm, or none, is refused whatever its signature. */
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
    await app.register(fastifyJwt, {
      secret: {
        private: signing,
        // An unknown key id is verified with the first key, so that it fails like any wrong signature.
        public: async (_: FastifyRequest, token: TokenOrHeader) =>
          keys.get('header' in token ? token.header.kid : token.kid) ?? signing,
      },
      decode: { complete: true },
      sign: {
        algorithm: ALGORITHM,
        kid,
        iss: ISSUER,
        aud: audience,
        expiresIn: ttlSeconds,
      },
      verify: {
        algorithms: [ALGORITHM],
        allowedIss: ISSUER,
        allowedAud: audience,
        requiredClaims: ['iss', 'aud', 'exp', 'sub', 'jti'],
        ...extraction,
      },
      trusted: (_, claims) => isStillValid(db, claims),
    })
  })
}

export function issueToken(app: FastifyInstance, account: Account): string {
  const { id, username, role, tokenGeneration } = account
  return app.jwt.sign({ sub: id, name: username, role, gen: tokenGeneration, jti: newId() })
}

/** Only claims we issue: anything else matches no account and would make PostgreSQL raise an error. */
const OwnClaims = TypeCompiler.Compile(
  Type.Object({
    sub: Type.String({ pattern: UUID }),
    role: oneOf(ROLES),
    gen: Type.Integer({ minimum: 0, maximum: MAX_INT }),
    jti: Type.String({ pattern: UUID }),
  }),
)

/** Checked on each use, so that disabling an account, or a logout, ends its tokens at once. */
async function isStillValid(db: Database, claims: unknown): Promise<boolean> {
  if (!OwnClaims.Check(claims)) return false
  const { sub, role, gen, jti } = claims
  const { rows } = await sql`
    select from loanops.account
     where id = ${sub} and disabled_at is null and role = ${role}
       and (token_generation = ${gen} or kept_token = ${jti})
       and not exists (select from loanops.ended_login where id = ${jti})`.execute(db)
  return rows.length === 1
}
