import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { NotFound } from '../http/problem.ts'
import { newId } from '../ids.ts'
import { Username } from './credentials.ts'

/** Viewers are read-only and cannot see accounts; administrators also manage accounts. */
export const ROLES = ['admin', 'operator', 'viewer'] as const
export type Role = (typeof ROLES)[number]
export type Account = {
  id: string
  username: string
  /** The hash; null for an account of single sign-on. */
  passwordHash: string | null
  role: Role
  tokenGeneration: number
  createdAt: Date
  disabledAt: Date | null
  mustChangePassword: boolean
  /** Whether create-admin made the account, for a person who cannot use single sign-on. */
  madeByCommand: boolean
}

const columns = sql`id, username, password_hash as "passwordHash", role, token_generation as "tokenGeneration",
  created_at as "createdAt", disabled_at as "disabledAt", must_change_password as "mustChangePassword",
  made_by_command as "madeByCommand"`

const IS_USERNAME = new RegExp(Username.pattern as string)

/** Failed attempts are counted by the name as JavaScript lowers it, and only ASCII is lowered alike by PostgreSQL. */
export async function findAccount(db: Database, username: string): Promise<Account | undefined> {
  if (!IS_USERNAME.test(username)) return undefined
  const { rows } = await sql<Account>`
    select ${columns} from loanops.account where lower(username) = lower(${username})`.execute(db)
  return rows[0]
}

/** @throws NotFound */
export async function readAccount(db: Database, username: string): Promise<Account> {
  const account = await findAccount(db, username)
  if (account === undefined) throw new NotFound(`No account ${username}`)
  return account
}

/**
 * The account of the person whom an issuer knows by this subject; it is locked, so that its role changes once at a
 * time.
 */
export async function lockAccountOf(
  trx: Trx,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select ${columns} from loanops.account
     where oidc_issuer = ${issuer} and oidc_subject = ${subject} for update`.execute(trx)
  return rows[0]
}

export type NewAccount = Pick<Account, 'username' | 'passwordHash' | 'role'> & {
  madeByCommand?: boolean
  issuer?: string
  subject?: string
}

export async function insertAccount(db: Database, wanted: NewAccount) {
  const { username, passwordHash, role, madeByCommand = false, issuer, subject } = wanted
  const { rows } = await sql<Account>`
    insert into loanops.account (id, username, password_hash, role, made_by_command, oidc_issuer, oidc_subject)
    values (${newId()}, ${username}, ${passwordHash}, ${role}, ${madeByCommand}, ${issuer ?? null}, ${subject ?? null})
    on conflict do nothing
    returning ${columns}`.execute(db)
  return rows[0]
}
