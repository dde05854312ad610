import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { isTimeout } from '../../database/transient.ts'
import { count as inDigits } from '../frame/formats.ts'

/** Beyond this nobody needs the number, and counting would take as long as there are rows. */
export const MAX_COUNTED = 1_000
const PATIENCE_MS = 800

export function countText(n: number): string {
  return n > MAX_COUNTED ? `more than ${inDigits(MAX_COUNTED)}` : inDigits(n)
}

/** @returns the number of rows, at most MAX_COUNTED + 1; null if counting takes too long */
export async function countUpTo(db: Database, rows: RawBuilder<unknown>): Promise<number | null> {
  try {
    return await db.transaction().execute(async trx => {
      await sql`select set_config('statement_timeout', ${String(PATIENCE_MS)}, true)`.execute(trx)
      const { rows: counted } = await sql<{ count: number }>`
        select count(*)::integer as count
         from (${rows} limit ${MAX_COUNTED + 1}) found`.execute(trx)
      return counted[0]?.count ?? 0
    })
  } catch (error) {
    if (isTimeout(error)) return null
    throw error
  }
}
