import createError from '@fastify/error'
import { type Database, inTransaction } from '../database/database.ts'
import { INTERNAL_TOKEN_ACTOR } from './access/actor.ts'
import { insertAccount, type NewAccount } from './account.ts'
import { type Asker, audit } from './audit.ts'

export const UsernameTaken = createError('USERNAME_TAKEN', 'This username is taken', 409)

export async function registerAccount(db: Database, asker: Asker, wanted: NewAccount) {
  // In the audit, such an account would look like a call without an account.
  if (wanted.username.toLowerCase() === INTERNAL_TOKEN_ACTOR) return undefined
  return inTransaction(db, async trx => {
    const account = await insertAccount(trx, wanted)
    if (account === undefined) return undefined
    await audit(trx, {
      ...asker,
      action: 'account.register',
      subject: account.username,
      detail: { role: account.role, ...(wanted.issuer && { by: 'single sign-on' }) },
    })
    return account
  })
}
