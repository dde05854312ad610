import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { NotFound } from '../http/problem.ts'
import { newId } from '../ids.ts'
import { Username } from './credentials.ts'

/** Viewers are read-only and cannot see accounts; administrators also manage accounts. */
export const ROLES = ['admin', 'operator', 'viewer'] as const
export type Role = (typeof ROLES)[number]
export type Account = {
  id: string
  username: string
  passwordHash: string
  role: Role
  tokenGeneration: number
  createdAt: Date
  disabledAt: Date | null
  mustChangePassword: boolean
}

const columns = sql`id, username, password_hash as "passwordHash", role, token_generation as "tokenGeneration",
  created_at as "createdAt", disabled_at as "disabledAt", must_change_password as "mustChangePassword"`

const IS_USERNAME = new RegExp(Username.pattern as string)

/** Failed attempts are counted by the name as JavaScript lowers it, and only ASCII is lowered alike by PostgreSQL. */
export async function findAccount(db: Database, username: string): Promise<Account | undefined> {
  if (!IS_USERNAME.test(username)) return undefined
  const { rows } = await sql<Account>`
    select ${columns} from loanops.account where lower(username) = lower(${username})`.execute(db)
  return rows[0]
}

/** @throws NotFound */
export async function knownAccount(db: Database, username: string): Promise<Account> {
  const account = await findAccount(db, username)
  if (account === undefined) throw new NotFound(`No account ${username}`)
  return account
}

export async function insertAccount(
  db: Database,
  { username, passwordHash, role }: Pick<Account, 'username' | 'passwordHash' | 'role'>,
): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    insert into loanops.account (id, username, password_hash, role)
    values (${newId()}, ${username}, ${passwordHash}, ${role})
    on conflict do nothing
    returning ${columns}`.execute(db)
  return rows[0]
}
