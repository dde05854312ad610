import { fastify } from 'fastify'
import type { Test } from 'tap'
import { type Role, readAccount } from '../../../src/accounts/account.ts'
import { hashPassword } from '../../../src/accounts/passwords/password.ts'
import { registerAccount } from '../../../src/accounts/register.ts'
import { accessTokens, issueToken } from '../../../src/accounts/tokens/access-token.ts'
import type { Database } from '../../../src/database/database.ts'
import { type Call, startTestService, type TestService } from '../service.ts'

export const ADMIN = { username: 'admin', password: 'a pass phrase for tests' }
export const OPERATOR = { username: 'asha.rao', password: 'another pass phrase' }

export type Bearer = { authorization: string }
export type AccountService = TestService & { admin: Bearer; operator: Bearer }

/** A service of role api with an administrator and an operator, who hold tokens though neither has logged in. */
export async function startWithAccounts(
  t: Test,
  changes: NodeJS.ProcessEnv = {},
): Promise<AccountService> {
  const accounts = { admin: ADMIN, operator: OPERATOR }
  const prepare = (db: Database) => makeAccounts(db, accounts)
  const service = await startTestService(t, { ROLE: 'api', ...changes }, { prepare })
  const { db, config } = service
  const app = fastify()
  await app.register(accessTokens(db, config))
  const held = async ({ username }: Credentials) => ({
    authorization: `Bearer ${issueToken(app, await readAccount(db, username))}`,
  })
  return { ...service, admin: await held(ADMIN), operator: await held(OPERATOR) }
}

type Credentials = { username: string; password: string }

/** Hashing takes 30 ms of a core, so each password is hashed once per process. */
const hashes = new Map<string, Promise<string>>()

export async function makeAccounts(
  db: Database,
  accounts: Partial<Record<Role, Credentials>>,
): Promise<void> {
  const asker = { actor: 'a test', caller: null, address: null, requestId: null }
  for (const [role, { username, password }] of Object.entries(accounts)) {
    const hash = hashes.get(password) ?? hashPassword(password)
    hashes.set(password, hash)
    const account = { username, passwordHash: await hash, role: role as Role }
    await registerAccount(db, asker, account)
  }
}

export async function bearer(call: Call, credentials: object): Promise<Bearer> {
  const { body } = await call('POST', '/api/account/login', credentials)
  return { authorization: `Bearer ${body.access_token}` }
}
