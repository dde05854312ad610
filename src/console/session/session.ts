import { hash } from 'node:crypto'
import { fastifyCookie } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { refuseAccount } from '../../accounts/access/access.ts'
import { Unauthenticated, verifyToken } from '../../accounts/access/actor.ts'
import type { Account } from '../../accounts/account.ts'
import { accessTokens, type Claims } from '../../accounts/tokens/access-token.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { newId } from '../../ids.ts'
import { setToken, tokenIn } from './cookie.ts'

const IDLE_SECONDS = 1_800
/** Even a session in constant use ends after a working day. */
const MAX_SECONDS = 12 * 3_600
/** A token is replaced once this share of its life is left. */
const RENEW_BELOW = 0.75

const nowSeconds = () => Math.floor(Date.now() / 1_000)
const ttlSeconds = ({ JWT_TTL_SECONDS }: Config) => Math.min(JWT_TTL_SECONDS, IDLE_SECONDS)

/** Sessions are read only in this scope: browsers send cookies unasked, so the API must not accept them. */
export async function readSessions(app: FastifyInstance, db: Database, config: Config) {
  await app.register(fastifyCookie, { secret: config.JWT_SECRET.map(formKey) })
  await app.register(
    accessTokens(db, config, {
      audience: 'loanops-console',
      ttlSeconds: ttlSeconds(config),
      // A request without the cookie fails like one with a wrong cookie.
      extractToken: request => tokenIn(request) ?? 'none',
    }),
  )
}

/** Forms have a key of their own: what signs a form must sign no token. */
const formKey = (secret: string) => hash('sha256', `forms of ${secret}`)

export function beginSession(request: FastifyRequest, reply: FastifyReply, account: Account): void {
  const { id: sub, username: name, role, tokenGeneration: gen } = account
  // The answer is for this account, not for that of a session that it replaces.
  request.user = { sub, name, role, gen, jti: newId(), began: nowSeconds() }
  setToken(request, reply, request.server.jwt.sign(request.user))
}

/**
 * The session of the request's cookie, also one that has expired, but none that was ended, or whose account is
 * disabled.
 */
export async function sessionIn(request: FastifyRequest): Promise<Claims | undefined> {
  try {
    return await verifyToken(request, { ignoreExpiration: true })
  } catch (error) {
    if (error instanceof Unauthenticated) return undefined
    throw error
  }
}

/** @throws Unauthenticated; WrongAccount */
export async function requireSession(request: FastifyRequest, reply: FastifyReply, config: Config) {
  const claims = await verifyToken(request)
  const { needs } = request.routeOptions.config
  if (needs !== undefined) refuseAccount(needs, claims.role)
  if (isRefresh(request)) return
  const { began = 0, exp } = claims as Claims & { exp: number }
  const now = nowSeconds()
  const expiresIn = Math.min(ttlSeconds(config), began + MAX_SECONDS - now)
  if (exp - now >= expiresIn * RENEW_BELOW) return
  const { sub, name, role, gen, jti } = claims
  const renewed = { sub, name, role, gen, jti, began }
  setToken(request, reply, request.server.jwt.sign(renewed, { expiresIn }))
}

/**
 * Whether htmx sent the request by itself: only what a person does renews a session, so that an unattended page does
 * not stay open.
 */
export const isRefresh = ({ headers }: FastifyRequest) => headers['hx-request'] !== undefined

/** Ends the session in every process and for every copy of its cookie. */
export async function endSession(db: Database, config: Config, { jti }: Claims): Promise<void> {
  // A token issued at this very moment may live for a full term.
  const forgetAfter = 2 * ttlSeconds(config)
  await sql`
    with forgotten as (delete from loanops.ended_login where forget_at < now())
    insert into loanops.ended_login (id, forget_at)
    values (${jti}, now() + make_interval(secs => ${forgetAfter}))
    on conflict do nothing`.execute(db)
}
