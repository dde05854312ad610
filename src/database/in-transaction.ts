import type { Database, Trx } from './database.ts'
import { retried } from './retried.ts'
import { isDeadlock } from './transient.ts'

/** A page of the console must be answered within four seconds. */
const WITHIN_MS = 2_500

/**
 * Works in the transaction, or in one of its own, which is begun again where it and another transaction have waited for each
 * other.
 */
export function inTransaction<T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Trx)
  const retries = { withinMs: WITHIN_MS, everyMs: 0, mayPass: isDeadlock }
  return retried(() => db.transaction().execute(work), retries)
}
