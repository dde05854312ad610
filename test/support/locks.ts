import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'

/** The transaction of this database that waits for an advisory lock. */
export async function waitingTransaction(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ virtualtransaction: string }>`
    select virtualtransaction from pg_locks
     where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows[0]?.virtualtransaction
}
