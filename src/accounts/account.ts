import { sql } from 'kysely'
import type { Database } from '../database.ts'
import { newId } from '../ids.ts'

export const ROLES = ['admin', 'operator'] as const
export type Role = (typeof ROLES)[number]
export type Account = {
  id: string
  username: string
  passwordHash: string
  role: Role
  tokenGeneration: number
  createdAt: Date
  disabledAt: Date | null
}

const columns = sql`id, username, password_hash as "passwordHash", role, token_generation as "tokenGeneration",
  created_at as "createdAt", disabled_at as "disabledAt"`

/** Names differ by more than upper and lower case. One with a NUL, which PostgreSQL refuses, is nobody's. */
export async function findAccount(db: Database, username: string): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select ${columns} from loanops.account where lower(username) = lower(${username.replaceAll('\0', ' ')})`.execute(
    db,
  )
  return rows[0]
}

/** @returns undefined where the name is taken */
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
