import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { forAdmins } from './access/needs.ts'
import type { Accounts } from './accounts.ts'
import { Proposal } from './approvals/approval-record.ts'
import { answerAct, type ForApprovals } from './approvals/perform.ts'

const ofOne = {
  tags: ['account'],
  security: [{ internalToken: [], bearer: [] }],
  params: Type.Object({ username: Type.String({ examples: ['asha.rao'] }) }),
}
const disableSchema = {
  ...ofOne,
  operationId: 'disableAccount',
  'x-refusals': ['CONFLICT'],
  summary: 'Disables an account and ends its tokens at once; for administrators',
  response: { 202: Proposal, 204: Type.Null() },
}
const unlockSchema = {
  ...ofOne,
  operationId: 'unlockAccount',
  summary: 'Forgets the failed logins of a name, from all addresses; for administrators',
  response: { 202: Proposal, 204: Type.Null() },
}
const resetSchema = {
  ...ofOne,
  operationId: 'resetPassword',
  'x-refusals': ['CONFLICT'],
  summary: 'Replaces a password by one that must be changed at the next login; for administrators',
  description:
    'Ends the account’s tokens at once. A login with the new password gets a token that only changes it.',
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
      { schema: disableSchema, config: forAdmins('account.disable') },
      async (request, reply) => answerAct(context, disableCall, request.params, reply),
    )

    app.post(
      '/account/:username/unlock',
      { schema: unlockSchema, config: forAdmins('account.unlock') },
      async (request, reply) => answerAct(context, unlockCall, request.params, reply),
    )

    app.post(
      '/account/:username/reset',
      { schema: resetSchema, config: forAdmins('account.reset') },
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        return answerAct(context, resetCall, request.params, reply)
      },
    )
  }
}
