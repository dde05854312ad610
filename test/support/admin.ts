import type { Test } from 'tap'
import { type Call, startTestService, type TestService } from './service.ts'

export const ADMIN = { username: 'admin', password: 'a pass phrase for tests' }
export const OPERATOR = { username: 'asha.rao', password: 'another pass phrase' }

export type Bearer = { authorization: string }
export type AccountService = TestService & { admin: Bearer; operator: Bearer }

/** A service of role api with an administrator and an operator, both logged in. */
export async function startWithAccounts(
  t: Test,
  changes: NodeJS.ProcessEnv = {},
): Promise<AccountService> {
  const service = await startTestService(t, {
    ROLE: 'api',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    ...changes,
  })
  const { call } = service
  const admin = await bearer(call, ADMIN)
  await call('POST', '/api/account/register', { ...OPERATOR, role: 'operator' }, admin)
  return { ...service, admin, operator: await bearer(call, OPERATOR) }
}

export async function bearer(call: Call, credentials: object): Promise<Bearer> {
  const { body } = await call('POST', '/api/account/login', credentials)
  return { authorization: `Bearer ${body.access_token}` }
}
