import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Accounts } from './accounts.ts'
import { askerOf, requireAccount } from './actor.ts'

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
  response: { 204: Type.Null() },
}
const unlockSchema = {
  operationId: 'unlockAccount',
  tags,
  summary: 'Forgets the failed logins of a name, from all addresses; for administrators',
  security,
  params,
  response: { 204: Type.Null() },
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
  },
}

export function adminRoutes({ accounts }: { accounts: Accounts }): FastifyPluginAsyncTypebox {
  return async app => {
    app.addHook('onRequest', requireAccount('admin'))

    app.post('/account/:username/disable', { schema: disableSchema }, async (request, reply) => {
      await accounts.disable(await askerOf(request), request.params.username)
      return reply.code(204).send(null)
    })

    app.post('/account/:username/unlock', { schema: unlockSchema }, async (request, reply) => {
      await accounts.unlock(await askerOf(request), request.params.username)
      return reply.code(204).send(null)
    })

    app.post('/account/:username/reset', { schema: resetSchema }, async (request, reply) => {
      const password = await accounts.reset(await askerOf(request), request.params.username)
      return reply.header('cache-control', 'no-store').send({ password })
    })
  }
}
