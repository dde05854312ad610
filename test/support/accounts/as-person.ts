import { insertAccount } from '../../../src/accounts/account.ts'
import { hashPassword } from '../../../src/accounts/passwords/password.ts'
import type { TestService } from '../service.ts'
import { bearer, OPERATOR } from './admin.ts'

/** The headers of an operator's decision about a payment, whatever it is like now. */
export async function asPerson({ db, call }: Pick<TestService, 'db' | 'call'>) {
  const passwordHash = await hashPassword(OPERATOR.password)
  await insertAccount(db, { username: OPERATOR.username, passwordHash, role: 'operator' })
  return { ...(await bearer(call, OPERATOR)), 'if-match': '*' }
}
