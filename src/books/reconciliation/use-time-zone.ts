import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'

/** The database counts days in the ledger's time zone; if the zone changed, all figures are recomputed. */
export async function useTimeZone(db: Database, config: Config): Promise<void> {
  await sql`select core.use_time_zone(${config.LEDGER_TIMEZONE})`.execute(db)
}
