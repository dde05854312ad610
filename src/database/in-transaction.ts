import type { Database, Trx } from './database.ts'

/** Runs the work in a transaction: the caller's, if it has begun one, or one of its own. */
export function inTransaction<T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db as Trx) : db.transaction().execute(work)
}
