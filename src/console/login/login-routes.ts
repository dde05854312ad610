import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { askerAs, askerOf } from '../../accounts/access/actor.ts'
import type { Account } from '../../accounts/account.ts'
import type { Accounts } from '../../accounts/accounts.ts'
import { auditAlone } from '../../accounts/audit.ts'
import { AttemptedPassword, AttemptedUsername } from '../../accounts/credentials.ts'
import { NO_ACCOUNT } from '../../accounts/sign-on/login.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { sendRetryAfter } from '../../http/retry-after.ts'
import { answerPage } from '../frame/answer.ts'
import { endedFormIn } from '../frame/forms/ended-form.ts'
import { dropToken, formCookie } from '../session/cookie.ts'
import { Next, NextQuery } from '../session/next-path.ts'
import { endSession } from '../session/session.ts'
import { answerLoggedIn } from './answer-logged-in.ts'
import { loginPage } from './login-page.ts'

const loginSchema = {
  body: only({ username: AttemptedUsername, password: AttemptedPassword, next: Next }),
}

type Context = { db: Database; config: Config; accounts: Accounts }

export function loginRoutes(app: App, { db, config, accounts }: Context): void {
  app.get(
    '/login',
    { schema: { querystring: NextQuery }, config: { needs: 'nothing' } },
    async (request, reply) => {
      const body = loginPage(request, config, request.query.next ?? '/console')
      return answerPage(request, reply, { title: 'Log in', body })
    },
  )

  app.post(
    '/login',
    { schema: loginSchema, config: { needs: 'nothing' } },
    async (request, reply) => {
      const { username, password, next = '/console' } = request.body
      let account: Account
      try {
        const mayEnter = (one: Account) => config.PASSWORD_LOGIN || one.madeByCommand
        account = await accounts.logIn(username, password, askerAs(NO_ACCOUNT, request), mayEnter)
      } catch (error) {
        return answerRefused(request, reply, error as FastifyError, { config, next })
      }
      return answerLoggedIn(request, reply, { db, config }, { account, next })
    },
  )

  const forAll = { needs: 'own', isForOneTimePassword: true } as const
  app.post('/logout', { config: forAll }, async (request, reply) => {
    await endSession(db, config, request.user)
    const asker = askerOf(request)
    await auditAlone(db, { ...asker, action: 'account.logout', subject: request.user.name })
    dropToken(request, reply)
    const { account = request.user.sub } = endedFormIn(request) ?? {}
    if (account === request.user.sub) formCookie.drop(request, reply)
    return reply.redirect('/console/login', 303)
  })
}

async function answerRefused(
  request: FastifyRequest,
  reply: FastifyReply,
  error: FastifyError,
  { config, next }: { config: Config; next: string },
) {
  const { statusCode, message } = error
  if (statusCode !== 401 && statusCode !== 429) throw error
  reply.code(statusCode)
  sendRetryAfter(reply, error, statusCode)
  const body = loginPage(request, config, next, message)
  return answerPage(request, reply, { title: 'Log in', body })
}
