import { sql } from 'kysely'
import pg from 'pg'
import type { Database } from './database.ts'
import { READ_ONLY } from './pool/read-only.ts'

/**
 * Refuses a server that takes no writes, and says why. A session does not turn `default_transaction_read_only` off by
 * itself: managed services turn it on before the disk is full, and writes that go on would fill it.
 */
export async function requireWritable(db: Database): Promise<void> {
  const { rows } = await sql<ReadOnly>`
    select pg_is_in_recovery() as "isStandby", source, quote_ident(current_database()) as database,
           quote_ident(session_user) as role
      from pg_settings
     where name = 'default_transaction_read_only'
       and (setting = 'on' or pg_is_in_recovery())`.execute(db)
  const [readOnly] = rows
  if (readOnly === undefined) return
  const reason = reasonOf(readOnly)
  // The error counts as PostgreSQL's own refusal, which may pass.
  throw Object.assign(new pg.DatabaseError(reason, reason.length, 'error'), { code: READ_ONLY })
}

type ReadOnly = { isStandby: boolean; source: string; database: string; role: string }

function reasonOf({ isStandby, source, database, role }: ReadOnly): string {
  if (isStandby)
    return 'PostgreSQL is a standby, which takes no writes: DATABASE_URL must lead to the primary'
  const alter: Record<string, string> = {
    database: `alter database ${database}`,
    user: `alter role ${role}`,
    'database user': `alter role ${role} in database ${database}`,
  }
  const reset = alter[source]
    ? `${alter[source]} reset default_transaction_read_only`
    : `turn it off where PostgreSQL takes it from (${source})`
  return `PostgreSQL takes no writes, because default_transaction_read_only is on: if a managed service turned it on, as when the disk is almost full, give the disk space; otherwise ${reset}`
}
