import type { Database, Trx } from './database.ts'
import { retry } from './retry.ts'
import { isDeadlock } from './transient.ts'

/** A page of the console must be loaded within four seconds. */
const WITHIN_MS = 2_500

/**
 * Runs `work` in the given transaction. Given none, it begins one, and begins again after a deadlock.
 */
export function inTransaction<T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Trx)
  const retries = { withinMs: WITHIN_MS, everyMs: 0, mayPass: isDeadlock }
  return retry(() => db.transaction().execute(work), retries)
}
