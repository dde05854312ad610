import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'

/** Copies the ledger's time zone to the database, which counts days in it; if it changed, all figures are recomputed. */
export async function copyTimeZone(db: Database, config: Config): Promise<void> {
  await sql`select core.copy_time_zone(${config.LEDGER_TIMEZONE})`.execute(db)
}
