import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

/** Has days counted in the ledger's time zone. Where it has changed, the figures of all days are worked out anew. */
export async function useTimeZone(db: Database, timeZone: string): Promise<void> {
  await sql`select core.use_time_zone(${timeZone})`.execute(db)
}
