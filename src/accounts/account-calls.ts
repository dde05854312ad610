import { sql } from 'kysely'
import type { Act } from '../config/acts.ts'
import type { Trx } from '../database/database.ts'
import type { Row } from '../database/row.ts'
import { asJson } from '../http/as-json.ts'
import { type Account, knownAccount, type Role } from './account.ts'
import type { ActCall, Facts } from './approvals/act-call.ts'
import { disableAccount, resetPassword, unlockAccount } from './change-account.ts'
import { oneTimePassword } from './one-time-password.ts'
import { registerAccount, UsernameTaken } from './register.ts'

/** The password itself is in no request. */
export type Wanted = { username: string; role: Role; password_hash: string }
type Named = { username: string }
type NewPassword = { password: string; hash: string }

export type AccountCalls = ReturnType<typeof accountCalls>

/** What administrators do with accounts. */
export function accountCalls(hash: (password: string) => Promise<string>) {
  const done = async () => ({ status: 204, body: null })

  const registerCall: ActCall<Wanted, undefined, Account> = {
    name: 'account.register',
    actsOf: () => ['account.register'],
    factsOf: async (_, { username, role }) =>
      factsAbout('account.register', username, { role }, null),
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

  const disableCall: ActCall<Named, undefined, void> = {
    name: 'account.disable',
    actsOf: () => ['account.disable'],
    factsOf: (trx, { username }) => accountFacts(trx, 'account.disable', username),
    act: async (db, asker, { username }) =>
      disableAccount(db, asker, await knownAccount(db, username)),
    answer: done,
  }

  const unlockCall: ActCall<Named, undefined, void> = {
    name: 'account.unlock',
    actsOf: () => ['account.unlock'],
    factsOf: (trx, { username }) => accountFacts(trx, 'account.unlock', username),
    act: async (db, asker, { username }) =>
      unlockAccount(db, asker, await knownAccount(db, username)),
    answer: done,
  }

  const resetCall: ActCall<Named, NewPassword, string> = {
    name: 'account.reset',
    actsOf: () => ['account.reset'],
    factsOf: (trx, { username }) => accountFacts(trx, 'account.reset', username),
    async look() {
      const password = oneTimePassword()
      return { password, hash: await hash(password) }
    },
    async act(db, asker, { username }, { password, hash }) {
      await resetPassword(db, asker, await knownAccount(db, username), hash)
      return password
    },
    answer: async (_, password) => ({ status: 200, body: { password } }),
  }
  return { registerCall, disableCall, unlockCall, resetCall }
}

async function accountFacts(trx: Trx, act: Act, named: string): Promise<Facts> {
  const { id, username } = await knownAccount(trx, named)
  const { rows } = await sql<Row<'loanops.account', 'role' | 'disabled_at' | 'token_generation'>>`
    select role, disabled_at, token_generation from loanops.account where id = ${id} for update`.execute(
    trx,
  )
  const { role, disabled_at, token_generation } = rows[0] ?? {}
  return factsAbout(act, username, { role, disabled_at }, [role, disabled_at, token_generation])
}

function factsAbout(act: Act, subject: string, shown: Facts['shown'], state: unknown): Facts {
  const parts = [{ act, amount: null }]
  return { act, subject, parts, amount: null, currency: null, shown, state }
}
