import { sql } from 'kysely'
import type { Act } from '../config/acts.ts'
import type { Database, Row, Trx } from '../database/database.ts'
import { asJson } from '../http/as-json.ts'
import { type Account, type Role, readAccount } from './account.ts'
import { type ActCall, type Facts, factsAbout } from './approvals/act-call.ts'
import type { Asker } from './audit.ts'
import { disableAccount, resetPassword, unlockAccount } from './change-account.ts'
import { oneTimePassword } from './passwords/one-time-password.ts'
import { registerAccount, UsernameTaken } from './register.ts'

/** The password itself is in no request. */
export type Registration = { username: string; role: Role; password_hash: string }
type Named = { username: string }
type NewPassword = { password: string; hash: string }

export function accountCalls(hash: (password: string) => Promise<string>) {
  const registerCall: ActCall<Registration, undefined, Account> = {
    name: 'account.register',
    acts: ['account.register'],
    factsOf: async (_, { username, role }) =>
      factsAbout('account.register', username.toLowerCase(), { role }, null),
    async act(db, asker, { username, role, password_hash: passwordHash }) {
      const account = await registerAccount(db, asker, { username, passwordHash, role })
      if (account === undefined) throw new UsernameTaken()
      return account
    },
    answer: async (_, { id, username, role, createdAt: created_at }) => ({
      status: 201,
      body: asJson({ id, username, role, created_at }),
    }),
  }

  const resetCall: ActCall<Named, NewPassword, string> = {
    name: 'account.reset',
    acts: ['account.reset'],
    factsOf: (trx, { username }) => accountFacts(trx, 'account.reset', username),
    async look() {
      const password = oneTimePassword()
      return { password, hash: await hash(password) }
    },
    async act(db, asker, { username }, { password, hash }) {
      await resetPassword(db, asker, await readAccount(db, username), hash)
      return password
    },
    answer: async (_, password) => ({ status: 200, body: { password } }),
  }
  return {
    registerCall,
    disableCall: changeCall('account.disable', disableAccount),
    unlockCall: changeCall('account.unlock', unlockAccount),
    resetCall,
  }
}

function changeCall(
  act: Act,
  change: (db: Database, asker: Asker, account: Account) => Promise<void>,
): ActCall<Named, undefined, void> {
  return {
    name: act,
    acts: [act],
    factsOf: (trx, { username }) => accountFacts(trx, act, username),
    act: async (db, asker, { username }) => change(db, asker, await readAccount(db, username)),
    answer: async () => ({ status: 204, body: null }),
  }
}

async function accountFacts(trx: Trx, act: Act, named: string): Promise<Facts> {
  const { id, username } = await readAccount(trx, named)
  const { rows } = await sql<Row<'loanops.account', 'role' | 'disabled_at' | 'token_generation'>>`
    select role, disabled_at, token_generation from loanops.account where id = ${id}
     for update`.execute(trx)
  const { token_generation, ...shown } = rows[0] ?? {}
  return factsAbout(act, username, shown, [...Object.values(shown), token_generation])
}
