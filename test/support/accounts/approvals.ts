import type { Test } from 'tap'
import { hashPassword } from '../../../src/accounts/passwords/password.ts'
import { registerAccount } from '../../../src/accounts/register.ts'
import type { Database } from '../../../src/database/database.ts'
import { capturedA } from '../payments/gateway-events.ts'
import { paymentService } from '../payments/payments.ts'
import type { Call } from '../service.ts'
import { ADMIN, type Bearer, bearer, OPERATOR } from './admin.ts'

/** A second operator. */
export const APPROVER = { username: 'ravi.iyer', password: 'yet another pass phrase' }
const WATCHER = { username: 'vic.viewer', password: 'only for looking at it' }

/** A service in which these acts need a second person, with two operators, a viewer and an administrator. */
export async function withApprovals(t: Test, APPROVALS: string, changes: NodeJS.ProcessEnv = {}) {
  const service = await paymentService(t, {
    APPROVALS,
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    ...changes,
  })
  const admin = await as(service.call, ADMIN)
  for (const [account, role] of [
    [OPERATOR, 'operator'],
    [APPROVER, 'operator'],
    [WATCHER, 'viewer'],
  ] as const)
    await register(service.db, account, role)
  return {
    ...service,
    admin,
    asha: await as(service.call, OPERATOR),
    ravi: await as(service.call, APPROVER),
    viewer: await as(service.call, WATCHER),
    token: caller(service.call, undefined),
    login: (account: { username: string; password: string }) => as(service.call, account),
    /** A payment in suspense that names no loan; its amount in paise. */
    held: async (id: string, amount?: number) => {
      const event = capturedA({ id, ...(amount && { amount }) })
      await service.webhook('gateway_a', event, { lender: 'LENDER_02' })
      await service.batch()
    },
  }
}

/** Registers the account without the API, where this may need approval. */
async function register(db: Database, account: typeof OPERATOR, role: 'operator' | 'viewer') {
  const { username, password } = account
  const passwordHash = await hashPassword(password)
  const asker = { actor: 'test', caller: null, address: null, requestId: null }
  await registerAccount(db, asker, { username, passwordHash, role })
}

/** Calls of the API by a person. */
async function as(call: Call, account: { username: string; password: string }) {
  return caller(call, await bearer(call, account))
}

function caller(call: Call, headers: Bearer | undefined) {
  return {
    headers: { ...headers },
    post: (path: string, body?: object, more = {}) =>
      call('POST', `/api/${path}`, body, { ...headers, ...more }),
    get: (path: string) => call('GET', `/api/${path}`, undefined, { ...headers }),
    delete: (path: string) => call('DELETE', `/api/${path}`, undefined, { ...headers }),
    approve: (id: string, note?: string) =>
      call('POST', `/api/approvals/${id}/approve`, { ...(note && { note }) }, { ...headers }),
  }
}
