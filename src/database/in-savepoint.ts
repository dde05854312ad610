import { sql } from 'kysely'
import type { Database } from './database.ts'

/**
 * Runs `work`. Within a transaction, what it did before it failed is taken back; outside, it has transactions of its
 * own.
 */
export async function inSavepoint<T>(db: Database, work: () => Promise<T>): Promise<T> {
  if (!db.isTransaction) return work()
  await sql`savepoint attempt`.execute(db)
  try {
    const done = await work()
    await sql`release savepoint attempt`.execute(db)
    return done
  } catch (error) {
    await sql`rollback to savepoint attempt`.execute(db)
    throw error
  }
}
