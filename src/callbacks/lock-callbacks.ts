import { sql } from 'kysely'
import type { Trx } from '../database/database.ts'

/** Call this before reading or locking rows of callbacks that the transaction decides about. */
export async function lockCallbacks(trx: Trx): Promise<void> {
  await sql`select loanops.lock_callbacks()`.execute(trx)
}
