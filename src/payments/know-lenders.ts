import { sql } from 'kysely'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'

/**
 * Tells the database the lenders, which alone get raw tables. Every role does so at its start: a worker started
 * before may save events of a new lender.
 */
export async function knowLenders(
  db: Database,
  { lenders }: Pick<Config, 'lenders'>,
): Promise<void> {
  await sql`
    insert into core.lender (code) select unnest(${[...lenders.keys()]}::text[])
    on conflict do nothing`.execute(db)
}
