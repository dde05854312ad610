import { Type } from '@sinclair/typebox'
import type { App } from '../http/app.ts'
import { titled } from '../http/fields/schemas.ts'
import type { Accounts } from './accounts.ts'
import { actRoutes } from './approvals/act-routes.ts'
import { Proposal } from './approvals/approval-record.ts'
import type { ForApprovals } from './approvals/perform.ts'

const ofOne = {
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
  summary: 'Clears the failed logins of a name, from all addresses; for administrators',
  response: { 202: Proposal, 204: Type.Null() },
}
const resetSchema = {
  ...ofOne,
  operationId: 'resetPassword',
  'x-refusals': ['CONFLICT'],
  summary:
    'Replaces a password with one that must be changed at the next login; for administrators',
  description:
    'Ends the account’s tokens at once. A login with the new password gets a token that only changes it.',
  response: { 200: titled('OneTimePassword', { password: Type.String() }), 202: Proposal },
}

type Context = ForApprovals & { accounts: Accounts }

export function adminRoutes(app: App, context: Context): void {
  const { disableCall, unlockCall, resetCall } = context.accounts.calls
  const act = actRoutes(app, context)
  act.post('/account/:username/disable', disableSchema, disableCall)

  act.post('/account/:username/unlock', unlockSchema, unlockCall)

  act.post('/account/:username/reset', resetSchema, resetCall, {
    preHandler: async (_, reply) => void reply.header('cache-control', 'no-store'),
  })
}
