import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Account } from './account.ts'

/** Keeps the same password under new parameters, unless it has been changed meanwhile. */
export async function rehashAccount(db: Database, { id, passwordHash }: Account, newHash: string) {
  await sql`
    update loanops.account set password_hash = ${newHash}
     where id = ${id} and password_hash = ${passwordHash}`.execute(db)
}

/** Ends every token of the account but the one that asked for it. */
export async function changePassword(
  db: Database,
  { id, passwordHash }: Account,
  { newHash, keptToken }: { newHash: string; keptToken: string },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update loanops.account
       set password_hash = ${newHash}, token_generation = token_generation + 1, kept_token = ${keptToken}
     where id = ${id} and password_hash = ${passwordHash}`.execute(db)
  return numAffectedRows === 1n
}

/** @returns whether it was still enabled */
export async function disableAccount(db: Database, { id }: Account): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update loanops.account set disabled_at = now() where id = ${id} and disabled_at is null`.execute(
    db,
  )
  return numAffectedRows === 1n
}
