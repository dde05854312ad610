import { sql } from 'kysely'
import { type Database, inTransaction, type Row, type Trx } from '../database/database.ts'
import { Conflict } from '../http/problem.ts'
import { Unauthenticated } from './access/actor.ts'
import type { Account } from './account.ts'
import { withdrawAllOf } from './approvals/decide.ts'
import { type Asker, audit } from './audit.ts'
import { forgetFailures } from './throttling/attempts.ts'
import type { Claims } from './tokens/access-token.ts'

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
  return inTransaction(db, async trx => {
    const { numAffectedRows } = await sql`
      update loanops.account
         set password_hash = ${newHash}, must_change_password = false,
             token_generation = token_generation + 1, kept_token = ${keptToken}
       where id = ${id} and password_hash = ${passwordHash}`.execute(trx)
    const isChanged = numAffectedRows === 1n
    if (isChanged) await audit(trx, { ...asker, action: 'account.password', subject: username })
    return isChanged
  })
}

export async function disableAccount(db: Database, asker: Asker, { id, username }: Account) {
  await inTransaction(db, async trx => {
    await refuseLastAdmin(trx, id)
    const { numAffectedRows } = await sql`
      update loanops.account set disabled_at = now()
       where id = ${id} and disabled_at is null`.execute(trx)
    if (numAffectedRows === 0n) return
    await audit(trx, { ...asker, action: 'account.disable', subject: username })
    await withdrawAllOf(trx, username, asker)
  })
}

/** Sets a new password, and ends all tokens of the account, and its lock. */
export async function resetPassword(
  db: Database,
  asker: Asker,
  { id, username, passwordHash }: Account,
  newHash: string,
): Promise<void> {
  if (passwordHash === null)
    throw new Conflict(`The account ${username} logs in by single sign-on and has no password`)
  await inTransaction(db, async trx => {
    const { numAffectedRows } = await sql`
      update loanops.account
         set password_hash = ${newHash}, must_change_password = true,
             token_generation = token_generation + 1, kept_token = null
       where id = ${id} and disabled_at is null`.execute(trx)
    if (numAffectedRows === 0n) throw new Conflict(`The account ${username} is disabled`)
    await forgetFailures(trx, username)
    await audit(trx, { ...asker, action: 'account.reset', subject: username })
  })
}

/** @throws Unauthenticated if the session has ended meanwhile, as by a new password: it must not come back by this */
export async function endOtherTokens(db: Database, asker: Asker, { sub, name, gen, jti }: Claims) {
  await inTransaction(db, async trx => {
    const { numAffectedRows } = await sql`
      update loanops.account set token_generation = token_generation + 1, kept_token = ${jti}
       where id = ${sub} and (token_generation = ${gen} or kept_token = ${jti})`.execute(trx)
    if (numAffectedRows === 0n) throw new Unauthenticated()
    await audit(trx, { ...asker, action: 'account.end_others', subject: name })
  })
}

export async function unlockAccount(db: Database, asker: Asker, { username }: Account) {
  await inTransaction(db, async trx => {
    await forgetFailures(trx, username)
    await audit(trx, { ...asker, action: 'account.unlock', subject: username })
  })
}

/**
 * Refuses to disable the last administrator. All administrators are locked: two who disable each other at the same
 * moment must not both succeed.
 */
async function refuseLastAdmin(trx: Trx, id: string): Promise<void> {
  const { rows: enabled } = await sql<Row<'loanops.account', 'id'>>`
    select id from loanops.account where role = 'admin' and disabled_at is null order by id
     for update`.execute(trx)
  if (enabled.length === 1 && enabled[0]?.id === id)
    throw new Conflict(
      'The last enabled administrator cannot be disabled: register another one first',
    )
}
