import { Type } from '@sinclair/typebox'
import type { FastifyError, FastifyRequest } from 'fastify'
import { askerAs } from '../../accounts/access/actor.ts'
import type { Accounts } from '../../accounts/accounts.ts'
import { NO_ACCOUNT } from '../../accounts/sign-on/login.ts'
import { personOf } from '../../accounts/sign-on/person.ts'
import {
  IssuerUnavailable,
  openSingleSignOn,
  SignOnRefused,
  type StartedSignOn,
} from '../../accounts/sign-on/single-sign-on.ts'
import type { Config } from '../../config/config.ts'
import type { SignOnSettings } from '../../config/settings/sign-on-settings.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { answerPage } from '../frame/answer.ts'
import { signOnCookie } from '../session/cookie.ts'
import { NextQuery } from '../session/next-path.ts'
import { sessionIn } from '../session/session.ts'
import { answerLoggedIn } from './answer-logged-in.ts'
import { loginPage } from './login-page.ts'

const CALLBACK_PATH = '/console/login/callback'

/** Issuers add parameters of their own. */
const callbackSchema = { querystring: Type.Object({}, { additionalProperties: true }) }

type Kept = StartedSignOn & { next: string }

type Context = { db: Database; config: Config; accounts: Accounts }

/** The routes that lead to the issuer and back, in a scope of their own for its errors. */
export async function signOnRoutes(app: App, context: Context): Promise<void> {
  const { signOn } = context.config
  if (signOn !== undefined) await app.register(async scope => issuerRoutes(scope, context, signOn))
}

/** The calls to the issuer have time limits of their own. */
function issuerRoutes(app: App, context: Context, settings: SignOnSettings): void {
  const { config, accounts } = context
  const forAnybody = { needs: 'nothing', takesLong: true } as const
  const signOn = openSingleSignOn(settings, app.log)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (!(error instanceof SignOnRefused || error instanceof IssuerUnavailable)) throw error
    const body = loginPage(request, config, '/console', error.message)
    return answerPage(request, reply.code(error.statusCode ?? 500), { title: 'Log in', body })
  })

  app.get(
    '/login/sign-on',
    { schema: { querystring: NextQuery }, config: forAnybody },
    async (request, reply) => {
      const { url, started } = await signOn.begin(callbackUrl(request).href)
      const { next = '/console' } = request.query
      signOnCookie.set(request, reply, JSON.stringify({ ...started, next } satisfies Kept))
      return reply.redirect(url.href, 303)
    },
  )

  app.get(
    '/login/callback',
    { schema: callbackSchema, config: forAnybody },
    async (request, reply) => {
      const kept = keptIn(request)
      const { state } = request.query as { state?: unknown }
      // The cookie is used once, whatever becomes of the login. That of a login which another tab started later is
      // left to that one.
      if (kept === undefined || state === kept.state) signOnCookie.drop(request, reply)
      if (kept === undefined) {
        // The browser's Back leads here again after a login.
        if ((await sessionIn(request)) !== undefined) return reply.redirect('/console', 303)
        throw new SignOnRefused()
      }
      const url = callbackUrl(request)
      url.search = new URL(request.url, url).search
      // The page of a refusal shows what was sent, and people send pictures of it to others.
      request.query = {}
      const identify = async () => personOf(await signOn.finish(url, kept), settings)
      const account = await accounts.enterBySignOn(askerAs(NO_ACCOUNT, request), identify)
      return answerLoggedIn(request, reply, context, { account, next: kept.next })
    },
  )
}

/** Our address as the browser sees it, according to our own proxies. The issuer leads only to addresses that it knows. */
const callbackUrl = ({ protocol, host }: FastifyRequest): URL =>
  new URL(`${protocol}://${host}${CALLBACK_PATH}`)

function keptIn(request: FastifyRequest): Kept | undefined {
  try {
    return JSON.parse(signOnCookie.read(request) ?? '') as Kept
  } catch {
    return undefined
  }
}
