import { sql } from 'kysely'
import type { Act } from '../../config/acts.ts'
import type { Row, Trx } from '../../database/database.ts'
import { PersonRequired, refuseAccount } from '../access/access.ts'
import { INTERNAL_TOKEN_ACTOR, Unauthenticated } from '../access/actor.ts'
import { type Needs, needsOf } from '../access/needs.ts'
import type { Role } from '../account.ts'
import type { Asker } from '../audit.ts'

/**
 * The account of a person, locked, so that it is not disabled, nor given another role, until this is done.
 * @throws PersonRequired, Unauthenticated, or a refusal of its role
 */
export async function requirePerson(trx: Trx, { actor }: Asker, act: Act): Promise<void> {
  if (actor === INTERNAL_TOKEN_ACTOR) throw new PersonRequired(act)
  await requireAllowed(trx, actor, needsOf(act))
}

/**
 * Call this for each part of a long upload and at its end: the uploader's account may have been disabled meanwhile.
 * @throws Unauthenticated, or a refusal of its role
 */
export async function requireUploader(trx: Trx, { actor }: Asker): Promise<void> {
  if (actor !== INTERNAL_TOKEN_ACTOR) await requireAllowed(trx, actor, 'operate')
}

async function requireAllowed(trx: Trx, actor: string, needs: Needs) {
  const { rows } = await sql<Row<'loanops.account', 'disabled_at'> & { role: Role }>`
    select role, disabled_at from loanops.account
     where lower(username) = lower(${actor}) for share`.execute(trx)
  if (rows[0] === undefined || rows[0].disabled_at !== null) throw new Unauthenticated()
  refuseAccount(needs, rows[0].role)
}

/** Two spellings of a username are one account. */
export const isSameAccount = (one: string, other: string) =>
  one.toLowerCase() === other.toLowerCase()
