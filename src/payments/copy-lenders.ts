import { sql } from 'kysely'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'

/**
 * Copies the lenders to the database: they alone get raw tables. Every role does so at its start: a worker started
 * before may save events of a new lender.
 */
export async function copyLenders(db: Database, { lenders }: Pick<Config, 'lenders'>) {
  await sql`
    insert into core.lender (code) select unnest(${[...lenders.keys()]}::text[])
    on conflict do nothing`.execute(db)
}
