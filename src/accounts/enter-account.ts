import createError from '@fastify/error'
import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { type Account, insertAccount, lockAccountOf } from './account.ts'
import { INTERNAL_TOKEN_ACTOR } from './actor.ts'
import { withdrawAllOf } from './approvals/decide.ts'
import { type Asker, audit } from './audit.ts'
import type { Person } from './person.ts'

const NameTaken = createError(
  'FORBIDDEN',
  'Another account has the name %s already: an administrator must have yours changed where you log in',
  403,
)
const Disabled = createError('FORBIDDEN', 'The account %s is disabled', 403)

/**
 * The account of somebody who has logged in at the issuer: the first login makes it, and each sets its role.
 * Its name stays what it was at first, because the audit knows it by that name.
 * @throws NameTaken, Disabled
 */
export async function enterAccount(db: Database, asker: Asker, person: Person): Promise<Account> {
  const account = await db.transaction().execute(async trx => {
    const found = (await lockAccountOf(trx, person)) ?? (await newAccount(trx, asker, person))
    const entered = found.disabledAt === null ? await withRole(trx, asker, found, person) : found
    const action = found.disabledAt === null ? 'account.login' : 'account.login_failed'
    await audit(trx, { ...asker, action, subject: found.username, ...by(found) })
    return entered
  })
  if (account.disabledAt !== null) throw new Disabled(account.username)
  return account
}

/** The actor of the audit: a person who fails to log in is nobody yet. */
const by = ({ disabledAt, username }: Account) => (disabledAt === null ? { actor: username } : {})

async function newAccount(trx: Trx, asker: Asker, person: Person): Promise<Account> {
  const { username, role } = person
  const isReserved = username.toLowerCase() === INTERNAL_TOKEN_ACTOR
  const account = isReserved
    ? undefined
    : await insertAccount(trx, { ...person, passwordHash: null })
  if (account !== undefined) {
    const detail = { role, by: 'single sign-on' }
    await audit(trx, { ...asker, action: 'account.register', subject: username, detail })
    return account
  }
  // Two first logins of one person at the same moment: this one has waited for the other to commit.
  const made = await lockAccountOf(trx, person)
  if (made === undefined) throw new NameTaken(username)
  return made
}

/** Sets the account's role. With another one, its tokens and proposals end, and do not come back with the role. */
async function withRole(
  trx: Trx,
  asker: Asker,
  account: Account,
  { role }: Person,
): Promise<Account> {
  const { id, username, role: before, tokenGeneration } = account
  if (role === before) return account
  await sql`
    update loanops.account set role = ${role}, token_generation = token_generation + 1, kept_token = null
     where id = ${id}`.execute(trx)
  await withdrawAllOf(trx, username, asker, `The account is ${role} now`)
  const detail = { from: before, to: role, by: 'single sign-on' }
  await audit(trx, { ...asker, action: 'account.role', subject: username, detail })
  return { ...account, role, tokenGeneration: tokenGeneration + 1 }
}
