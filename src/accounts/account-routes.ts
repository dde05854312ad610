import { Type } from '@sinclair/typebox'
import type { Config } from '../config/config.ts'
import type { App } from '../http/app.ts'
import { oneOf, titled, titledBody } from '../http/fields/schemas.ts'
import { askerAs, askerOf, INTERNAL_TOKEN_ACTOR } from './access/actor.ts'
import { ROLES } from './account.ts'
import type { Accounts } from './accounts.ts'
import { actRoutes } from './approvals/act-routes.ts'
import { Proposal } from './approvals/approval-record.ts'
import type { ForApprovals } from './approvals/perform.ts'
import { AttemptedPassword, AttemptedUsername, NewPassword, Username } from './credentials.ts'
import { issueToken } from './tokens/access-token.ts'

const security = [{ internalToken: [], bearer: [] }]
const Role = oneOf(ROLES)
const loginSchema = {
  operationId: 'login',
  'x-refusals': ['INVALID_CREDENTIALS', 'TOO_MANY_ATTEMPTS'],
  summary: 'Returns an access token for a username and password',
  body: titledBody('LoginRequest', { username: AttemptedUsername, password: AttemptedPassword }),
  response: {
    200: titled('AccessToken', {
      access_token: Type.String(),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Integer({ description: 'seconds' }),
    }),
  },
}
const Registered = titled('Account', {
  id: Type.String(),
  username: Type.String(),
  role: Role,
  created_at: Type.String(),
})
const registerSchema = {
  operationId: 'registerAccount',
  'x-refusals': ['USERNAME_TAKEN'],
  summary: 'Creates an account; for administrators',
  security,
  body: titledBody('RegisterAccountRequest', {
    username: Username,
    password: NewPassword,
    role: Role,
  }),
  response: { 201: Registered, 202: Proposal },
}
const OtherPassword = { ...NewPassword, examples: ['another long pass phrase'] }
const passwordSchema = {
  operationId: 'changePassword',
  'x-refusals': ['INVALID_CREDENTIALS', 'TOO_MANY_ATTEMPTS'],
  summary: 'Changes the caller’s own password and ends all other tokens of the account',
  security,
  body: titledBody('ChangePasswordRequest', {
    current_password: AttemptedPassword,
    new_password: OtherPassword,
  }),
  response: { 204: Type.Null() },
}

type Context = ForApprovals & { config: Config; accounts: Accounts }

export function accountRoutes(app: App, context: Context): void {
  const { config, accounts } = context
  app.post(
    '/account/login',
    { schema: loginSchema, config: { needs: 'nothing' } },
    async request => {
      const { username, password } = request.body
      const asker = askerAs(INTERNAL_TOKEN_ACTOR, request)
      const account = await accounts.logIn(username, password, asker)
      return {
        access_token: issueToken(app, account),
        token_type: 'Bearer' as const,
        expires_in: config.JWT_TTL_SECONDS,
      }
    },
  )

  actRoutes(app, context).post('/account/register', registerSchema, accounts.calls.registerCall, {
    asked: ({ body }) => accounts.registrationOf(body),
  })

  app.post(
    '/account/password',
    { schema: passwordSchema, config: { needs: 'own', isForOneTimePassword: true } },
    async (request, reply) => {
      const { current_password: old, new_password: password } = request.body
      const { name: username, jti: keptToken } = request.user
      const asker = askerOf(request)
      await accounts.changePassword(asker, { username, old, password, keptToken })
      return reply.code(204).send(null)
    },
  )
}
