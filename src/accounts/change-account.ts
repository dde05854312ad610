import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Account } from './account.ts'
import { type Asker, audit } from './audit.ts'

export async function rehashAccount(db: Database, { id, passwordHash }: Account, newHash: string) {
  await sql`
    update loanops.account set password_hash = ${newHash}
     where id = ${id} and password_hash = ${passwordHash}`.execute(db)
}

/** @returns false if the password has changed since the account was read */
export async function changePassword(
  db: Database,
  asker: Asker,
  { id, username, passwordHash }: Account,
  { newHash, keptToken }: { newHash: string; keptToken: string },
): Promise<boolean> {
  return db.transaction().execute(async trx => {
    const { numAffectedRows } = await sql`
      update loanops.account
         set password_hash = ${newHash}, token_generation = token_generation + 1, kept_token = ${keptToken}
       where id = ${id} and password_hash = ${passwordHash}`.execute(trx)
    const isChanged = numAffectedRows === 1n
    if (isChanged) await audit(trx, { ...asker, action: 'account.password', subject: username })
    return isChanged
  })
}

export async function disableAccount(
  db: Database,
  asker: Asker,
  { id, username }: Account,
): Promise<void> {
  await db.transaction().execute(async trx => {
    const { numAffectedRows } = await sql`
      update loanops.account set disabled_at = now() where id = ${id} and disabled_at is null`.execute(
      trx,
    )
    if (numAffectedRows === 1n)
      await audit(trx, { ...asker, action: 'account.disable', subject: username })
  })
}
