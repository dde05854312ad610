import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../accounts/account.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { answerPage } from '../frame/answer.ts'
import { endedFormIn, sendAgain } from '../frame/forms/ended-form.ts'
import { formCookie } from '../session/cookie.ts'
import { nextPath } from '../session/next-path.ts'
import { beginSession, endSession, sessionIn } from '../session/session.ts'

export async function answerLoggedIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, config }: { db: Database; config: Config },
  { account, next }: { account: Account; next: string },
) {
  // The session before this login ends, or a copy of its cookie would outlive it.
  const before = await sessionIn(request)
  if (before?.sub === account.id) await endSession(db, config, before)
  beginSession(request, reply, account)
  const ended = endedFormIn(request)
  // A form that somebody else filled in is neither shown nor sent, and waits for its own account.
  if (ended === undefined || ![account.id, null].includes(ended.account))
    return reply.redirect(nextPath(next), 303)
  formCookie.drop(request, reply)
  if (ended.typed === null) return reply.redirect(nextPath(next), 303)
  const body = sendAgain(ended.typed, { action: ended.action, back: next })
  return answerPage(request, reply, { title: 'Send it now?', body })
}
