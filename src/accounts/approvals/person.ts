import createError from '@fastify/error'
import { sql } from 'kysely'
import type { Act } from '../../config/acts.ts'
import type { Trx } from '../../database/database.ts'
import type { Row } from '../../database/row.ts'
import type { Role } from '../account.ts'
import { INTERNAL_TOKEN_ACTOR, Unauthenticated } from '../actor.ts'
import type { Asker } from '../audit.ts'

const PersonRequired = createError(
  'PERSON_REQUIRED',
  'A person must propose and decide this: send the Bearer token of an account',
  403,
)

const NotYours = createError('FORBIDDEN', 'The role of your account does not allow this', 403)

/**
 * Locks the account, so that it is not disabled, nor given another role, until this is done.
 * @throws PersonRequired, Unauthenticated, or a refusal of its role
 */
export async function requirePerson(trx: Trx, { actor }: Asker, act: Act): Promise<void> {
  if (actor === INTERNAL_TOKEN_ACTOR) throw new PersonRequired()
  const { rows } = await sql<Row<'loanops.account', 'disabled_at'> & { role: Role }>`
    select role, disabled_at from loanops.account where lower(username) = lower(${actor}) for share`.execute(
    trx,
  )
  if (rows[0] === undefined || rows[0].disabled_at !== null) throw new Unauthenticated()
  const may: Role[] = act.startsWith('account.') ? ['admin'] : ['admin', 'operator']
  if (!may.includes(rows[0].role)) throw new NotYours()
}

/** Two spellings of a username are one account. */
export const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
