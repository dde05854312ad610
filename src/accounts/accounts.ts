import type { Database } from '../database/database.ts'
import { type Account, knownAccount, type Role } from './account.ts'
import { openAttempts } from './attempts.ts'
import { type Asker, auditAlone } from './audit.ts'
import { disableAccount, unlockAccount } from './change-account.ts'
import { type Login, openLogin } from './login.ts'
import { hashPassword } from './password.ts'
import { registerAccount, UsernameTaken } from './register.ts'
import { turns } from './turns.ts'

/** A hash occupies one core for about 30 ms and 19 MiB: running more in parallel would slow down operations. */
const MAX_CONCURRENT_HASHES = 1
/** The last in the queue waits for about 3 s. */
const MAX_WAITING_HASHES = 100

type NewAccount = { username: string; password: string; role: Role }

/** All hashes of a process take turns. */
export type Accounts = {
  check: Login
  logIn: Login
  register(asker: Asker, wanted: NewAccount): Promise<Account>
  disable(asker: Asker, username: string): Promise<void>
  unlock(asker: Asker, username: string): Promise<void>
  hash(password: string): Promise<string>
}

export function openAccounts(db: Database): Accounts {
  const inTurn = turns(MAX_CONCURRENT_HASHES, MAX_WAITING_HASHES)
  const check = openLogin(db, openAttempts(db), inTurn)
  const hash = (password: string) => inTurn(() => hashPassword(password))

  return {
    check,
    hash,
    async logIn(username, password, asker) {
      const account = await check(username, password, asker)
      const actor = account.username
      await auditAlone(db, { ...asker, actor, action: 'account.login', subject: actor })
      return account
    },
    async register(asker, { username, password, role }) {
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
  }
}
