import createError from '@fastify/error'
import { sql } from 'kysely'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { type Account, lockAccountOf } from '../account.ts'
import { withdrawAllOf } from '../approvals/decide.ts'
import { type Asker, audit } from '../audit.ts'
import { registerAccount } from '../register.ts'
import type { Person } from './person.ts'

const NameTaken = createError(
  'FORBIDDEN',
  'Another account already has the name %s: ask an administrator to change yours where you log in',
  403,
)
class Disabled extends createError('FORBIDDEN', 'The account %s is disabled', 403) {
  readonly username: string
  constructor(username: string) {
    super(username)
    this.username = username
  }
}

/**
 * The account of somebody who has logged in at the issuer: the first login makes it, and each sets its role.
 * Its name stays what it was at first, because the audit knows it by that name.
 * @throws NoUsername, NameTaken, Disabled
 */
export async function enterAccount(db: Database, asker: Asker, person: Person): Promise<Account> {
  return inTransaction(db, async trx => {
    const found = (await lockAccountOf(trx, person)) ?? (await newAccount(trx, asker, person))
    const subject = found.username
    if (found.disabledAt !== null) throw new Disabled(subject)
    const entered = await withRole(trx, asker, found, person)
    await audit(trx, { ...asker, actor: subject, action: 'account.login', subject })
    return entered
  })
}

async function newAccount(trx: Trx, asker: Asker, person: Person): Promise<Account> {
  const username = person.newName()
  const account =
    (await registerAccount(trx, asker, { ...person, username, passwordHash: null })) ??
    // Two first logins of one person at the same moment: this one has waited for the other to commit.
    (await lockAccountOf(trx, person))
  if (account === undefined) throw new NameTaken(username)
  return account
}

/** A changed role ends the account's tokens and proposals for good, even if the old role returns. */
async function withRole(trx: Trx, asker: Asker, account: Account, { role }: Person) {
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

/**
 * Ends the sessions of somebody to whom the issuer gives no role any more, as a lesser role would.
 * @returns the account's name, if there is one
 */
export async function endSessionsOf(
  db: Database,
  { issuer, subject }: Pick<Person, 'issuer' | 'subject'>,
): Promise<string | undefined> {
  const { rows } = await sql<{ username: string }>`
    update loanops.account set token_generation = token_generation + 1, kept_token = null
     where oidc_issuer = ${issuer} and oidc_subject = ${subject}
    returning username`.execute(db)
  return rows[0]?.username
}
