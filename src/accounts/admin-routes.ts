import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Accounts } from './accounts.ts'
import { askerOf } from './actor.ts'
import { Proposal } from './approvals/approval-record.ts'
import { answerAct, type ForApprovals } from './approvals/perform.ts'

const tags = ['account']
const security = [{ internalToken: [], bearer: [] }]
const params = Type.Object({ username: Type.String({ examples: ['asha.rao'] }) })
const disableSchema = {
  operationId: 'disableAccount',
  'x-refusals': ['CONFLICT'],
  tags,
  summary: 'Disables an account and ends its tokens at once; for administrators',
  security,
  params,
  response: { 202: Proposal, 204: Type.Null() },
}
const unlockSchema = {
  operationId: 'unlockAccount',
  tags,
  summary: 'Forgets the failed logins of a name, from all addresses; for administrators',
  security,
  params,
  response: { 202: Proposal, 204: Type.Null() },
}
const resetSchema = {
  operationId: 'resetPassword',
  'x-refusals': ['CONFLICT'],
  tags,
  summary: 'Replaces a password by one that must be changed at the next login; for administrators',
  description:
    'Ends the account’s tokens at once. A login with the new password gets a token that only changes it.',
  security,
  params,
  response: {
    200: Type.Object({ password: Type.String() }, { title: 'OneTimePassword' }),
    202: Proposal,
  },
}

type Context = ForApprovals & { accounts: Accounts }

export function adminRoutes(context: Context): FastifyPluginAsyncTypebox {
  const { disableCall, unlockCall, resetCall } = context.accounts.calls
  return async app => {
    app.post(
      '/account/:username/disable',
      { schema: disableSchema, config: { needs: 'accounts', acts: ['account.disable'] } },
      async (request, reply) => {
        return answerAct(context, disableCall, askerOf(request), request.params, { reply })
      },
    )

    app.post(
      '/account/:username/unlock',
      { schema: unlockSchema, config: { needs: 'accounts', acts: ['account.unlock'] } },
      async (request, reply) => {
        return answerAct(context, unlockCall, askerOf(request), request.params, { reply })
      },
    )

    app.post(
      '/account/:username/reset',
      { schema: resetSchema, config: { needs: 'accounts', acts: ['account.reset'] } },
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        return answerAct(context, resetCall, askerOf(request), request.params, { reply })
      },
    )
  }
}
