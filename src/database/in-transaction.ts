import type { Database, Trx } from './database.ts'

/** In the caller's transaction if it has begun one. */
export function inTransaction<T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db as Trx) : db.transaction().execute(work)
}
