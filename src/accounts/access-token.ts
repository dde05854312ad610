import { fastifyJwt, type TokenOrHeader } from '@fastify/jwt'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { sql } from 'kysely'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { oneOf } from '../http/fields.ts'
import { newId, UUID } from '../ids.ts'
import { type Account, ROLES, type Role } from './account.ts'
import { tokenKeys } from './token-keys.ts'

const ISSUER = 'loanops'
const AUDIENCE = 'loanops-api'
/** Pinned: a token with another algorithm, or none, is refused whatever its signature. */
const ALGORITHM = 'HS256'

type Claims = { sub: string; name: string; role: Role; gen: number; jti: string }

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Claims
    user: Claims
  }
}

/** Adds `request.jwtVerify()`, which also asks the database whether the token is still valid for its account. */
export function accessTokens(db: Database, config: Config) {
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
        aud: AUDIENCE,
        expiresIn: config.JWT_TTL_SECONDS,
      },
      verify: {
        algorithms: [ALGORITHM],
        allowedIss: ISSUER,
        allowedAud: AUDIENCE,
        requiredClaims: ['iss', 'aud', 'exp', 'sub', 'jti'],
      },
      trusted: (_, claims) => isStillValid(db, claims),
    })
  })
}

/** Issues a new token for an account. */
export function issueToken(app: FastifyInstance, account: Account): string {
  const { id, username, role, tokenGeneration } = account
  return app.jwt.sign({ sub: id, name: username, role, gen: tokenGeneration, jti: newId() })
}

/** The claims that we issue. Other claims, even if signed, match no account, and PostgreSQL would raise an error on them. */
const OwnClaims = TypeCompiler.Compile(
  Type.Object({
    sub: Type.String({ pattern: UUID }),
    role: oneOf(ROLES),
    gen: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
    jti: Type.String({ pattern: UUID }),
  }),
)

/** Checked on each use, so that disabling an account ends its tokens at once. */
async function isStillValid(db: Database, claims: unknown): Promise<boolean> {
  if (!OwnClaims.Check(claims)) return false
  const { sub, role, gen, jti } = claims
  const { rows } = await sql`
    select from loanops.account
     where id = ${sub} and disabled_at is null and role = ${role}
       and (token_generation = ${gen} or kept_token = ${jti})`.execute(db)
  return rows.length === 1
}
