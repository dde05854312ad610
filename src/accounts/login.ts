import createError from '@fastify/error'
import type { Database } from '../database/database.ts'
import { type Account, findAccount } from './account.ts'
import type { Attempts } from './attempts.ts'
import { type Asker, auditAlone } from './audit.ts'
import { rehashAccount } from './change-account.ts'
import { hashPassword, isOutdated, isPassword } from './password.ts'
import type { Turns } from './turns.ts'

export const InvalidCredentials = createError(
  'INVALID_CREDENTIALS',
  'Wrong username or password',
  401,
)

/** Contains a space, so no account can have this name. */
export const NO_ACCOUNT = 'no account'

export type Login = (username: string, password: string, asker: Asker) => Promise<Account>

/**
 * An unknown name, a disabled account and a wrong password get the same answer after the same time.
 * Attempts are counted inside the turn, so that only as many as have a turn can exceed the limit. A failure
 * is answered only once recorded; throttled attempts are not recorded, which bounds the audit.
 */
export function openLogin(db: Database, attempts: Attempts, inTurn: Turns): Login {
  return async (username, password, asker) => {
    const { account, isRight } = await inTurn(() => verify(username, password, asker.address))
    if (account !== undefined && isRight) return account
    // A name that no account has may be a password typed into the wrong field.
    const subject = account?.username ?? NO_ACCOUNT
    await auditAlone(db, { ...asker, action: 'account.login_failed', subject })
    throw new InvalidCredentials()
  }

  async function verify(username: string, password: string, address: string | null) {
    await attempts.check(username, address)
    const account = await findAccount(db, username)
    const isRight =
      (await isPassword(account?.passwordHash, password)) && account?.disabledAt === null
    if (!isRight) await attempts.failed(username, address)
    else {
      await attempts.succeeded(username)
      if (isOutdated(account.passwordHash))
        await rehashAccount(db, account, await hashPassword(password))
    }
    return { account, isRight }
  }
}
