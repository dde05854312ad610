import { sql } from 'kysely'
import type { Trx } from '../database/database.ts'

/**
 * Call this before locking rows of payments: whoever settles payments holds this lock while it waits for their rows, and
 * rows are added under it.
 */
export async function lockSettling(trx: Trx): Promise<void> {
  await sql`select core.lock_settling()`.execute(trx)
}
