import type { Database } from '../database/database.ts'
import { type Account, knownAccount, type Role } from './account.ts'
import { openAttempts } from './attempts.ts'
import { type Asker, auditAlone } from './audit.ts'
import { changePassword, disableAccount, resetPassword, unlockAccount } from './change-account.ts'
import { InvalidCredentials, type Login, openLogin } from './login.ts'
import { oneTimePassword } from './one-time-password.ts'
import { hashPassword } from './password.ts'
import { refuseWeak } from './refuse-weak.ts'
import { registerAccount, UsernameTaken } from './register.ts'
import { turns } from './turns.ts'

/** A hash occupies one core for about 30 ms and 19 MiB: running more in parallel would slow down operations. */
const MAX_CONCURRENT_HASHES = 1
/** The last in the queue waits for about 3 s. */
const MAX_WAITING_HASHES = 100

type NewAccount = { username: string; password: string; role: Role }

type PasswordChange = { username: string; old: string; password: string; keptToken: string }

/** All hashes of a process take turns. */
export type Accounts = {
  logIn: Login
  register(asker: Asker, wanted: NewAccount): Promise<Account>
  disable(asker: Asker, username: string): Promise<void>
  unlock(asker: Asker, username: string): Promise<void>
  /** @returns the password that the account logs in with once, to change it */
  reset(asker: Asker, username: string): Promise<string>
  changePassword(asker: Asker, change: PasswordChange): Promise<void>
}

export function openAccounts(db: Database): Accounts {
  const inTurn = turns(MAX_CONCURRENT_HASHES, MAX_WAITING_HASHES)
  const check = openLogin(db, openAttempts(db), inTurn)
  const hash = (password: string) => inTurn(() => hashPassword(password))

  return {
    async logIn(username, password, asker, mayEnter) {
      const account = await check(username, password, asker, mayEnter)
      const actor = account.username
      await auditAlone(db, { ...asker, actor, action: 'account.login', subject: actor })
      return account
    },
    async register(asker, { username, password, role }) {
      await refuseWeak('password', { username, password })
      const passwordHash = await hash(password)
      const account = await registerAccount(db, asker, { username, passwordHash, role })
      if (account === undefined) throw new UsernameTaken()
      return account
    },
    async disable(asker, username) {
      await disableAccount(db, asker, await knownAccount(db, username))
    },
    async unlock(asker, username) {
      await unlockAccount(db, asker, await knownAccount(db, username))
    },
    async reset(asker, username) {
      const account = await knownAccount(db, username)
      const password = oneTimePassword()
      await resetPassword(db, asker, account, await hash(password))
      return password
    },
    async changePassword(asker, { username, old, password, keptToken }) {
      await refuseWeak('new_password', { username, password, old })
      const account = await check(username, old, asker)
      const newHash = await hash(password)
      const isChanged = await changePassword(db, asker, account, { newHash, keptToken })
      // It was changed in the meantime: the given password is no longer the current one.
      if (!isChanged) throw new InvalidCredentials()
    },
  }
}
