import type { Database } from '../database/database.ts'
import type { Role } from './account.ts'
import { accountCalls, type Registration } from './account-calls.ts'
import { type Asker, auditAlone } from './audit.ts'
import { changePassword } from './change-account.ts'
import { hashPassword } from './passwords/password.ts'
import { refuseWeak } from './passwords/refuse-weak.ts'
import { InvalidCredentials, type Login, openLogin } from './sign-on/login.ts'
import { openSignOn } from './sign-on/sign-on.ts'
import { openAttempts } from './throttling/attempts.ts'
import { turns } from './throttling/turns.ts'

/** A hash occupies one core for about 30 ms and 19 MiB: running more in parallel would slow down operations. */
const MAX_CONCURRENT_HASHES = 1
/** The last in the queue waits for about 3 s. */
const MAX_WAITING_HASHES = 100

type NewAccount = { username: string; password: string; role: Role }

type PasswordChange = { username: string; old: string; password: string; keptToken: string }

export type Accounts = ReturnType<typeof openAccounts>

/** All hashes of a process take turns. */
export function openAccounts(db: Database) {
  const inTurn = turns(MAX_CONCURRENT_HASHES, MAX_WAITING_HASHES)
  const attempts = openAttempts(db)
  const check = openLogin(db, attempts, inTurn)
  const hash = (password: string) => inTurn(() => hashPassword(password))
  const logIn: Login = async (username, password, asker, mayEnter) => {
    const account = await check(username, password, asker, mayEnter)
    const actor = account.username
    await auditAlone(db, { ...asker, actor, action: 'account.login', subject: actor })
    return account
  }

  return {
    logIn,
    enterBySignOn: openSignOn(db, attempts),
    calls: accountCalls(hash),
    /** The registration, without the account's password. */
    async registrationOf({ username, password, role }: NewAccount): Promise<Registration> {
      await refuseWeak('password', { username, password })
      return { username, role, password_hash: await hash(password) }
    },
    async changePassword(asker: Asker, change: PasswordChange): Promise<void> {
      const { username, old, password, keptToken } = change
      await refuseWeak('new_password', { username, password, old })
      const account = await check(username, old, asker)
      const newHash = await hash(password)
      const isChanged = await changePassword(db, asker, account, { newHash, keptToken })
      // The password was changed in the meantime: the given one is not the current one.
      if (!isChanged) throw new InvalidCredentials()
    },
  }
}
