import type { Database, Trx } from './database.ts'

export function inTransaction<T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db as Trx) : db.transaction().execute(work)
}
