import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyError } from 'fastify'
import type { Accounts } from '../../accounts/accounts.ts'
import { askerAs } from '../../accounts/actor.ts'
import { auditAlone } from '../../accounts/audit.ts'
import { AttemptedPassword } from '../../accounts/credentials.ts'
import { InvalidCredentials, NO_ACCOUNT } from '../../accounts/login.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { sendRetryAfter } from '../../http/retry-after.ts'
import { closed } from '../../http/schemas.ts'
import { answerPage } from '../frame/answer.ts'
import { askerFor } from './asker-for.ts'
import { dropForm, dropToken } from './cookie.ts'
import { endedFormIn, sendAgain } from './ended-form.ts'
import { loginPage } from './login-page.ts'
import { nextPath } from './next-path.ts'
import { beginSession, endSession } from './session.ts'

const Next = Type.Optional(Type.String({ maxLength: 2_000 }))
const askSchema = { querystring: Type.Object({ next: Next }, closed) }
const loginSchema = {
  body: Type.Object(
    { username: AttemptedPassword, password: AttemptedPassword, next: Next },
    closed,
  ),
}

type Context = { db: Database; config: Config; accounts: Accounts }

export function sessionRoutes({ db, config, accounts }: Context): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/login', { schema: askSchema, config: { isPublic: true } }, async (request, reply) => {
      const body = loginPage(request, request.query.next ?? '/console')
      return answerPage(request, reply, { title: 'Log in', body })
    })

    app.post(
      '/login',
      { schema: loginSchema, config: { isPublic: true } },
      async (request, reply) => {
        const { username, password, next } = request.body
        try {
          const account = await accounts.logIn(username, password, askerAs(NO_ACCOUNT, request))
          beginSession(request, reply, account)
        } catch (error) {
          const { statusCode = 500, message } = error as FastifyError
          if (error instanceof InvalidCredentials) reply.code(401)
          else if (statusCode === 429) {
            reply.code(429)
            sendRetryAfter(reply, error as FastifyError, 429)
          } else throw error
          const body = loginPage(request, next ?? '/console', message)
          return answerPage(request, reply, { title: 'Log in', body })
        }
        const ended = endedFormIn(request)
        if (ended === undefined) return reply.redirect(nextPath(next), 303)
        const { action, typed } = ended
        if (typed === null) {
          dropForm(request, reply)
          return reply.redirect(nextPath(next), 303)
        }
        const body = sendAgain(request, reply, { typed }, { action, back: next ?? '' })
        return answerPage(request, reply, { title: 'Send it now?', body })
      },
    )

    app.post('/logout', { config: { isForViewers: true } }, async (request, reply) => {
      await endSession(db, config, request.user)
      const asker = askerFor(request)
      await auditAlone(db, { ...asker, action: 'account.logout', subject: request.user.name })
      dropToken(request, reply)
      return reply.redirect('/console/login', 303)
    })
  }
}
