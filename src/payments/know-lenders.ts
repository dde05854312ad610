import { sql } from 'kysely'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'

/** Only they get raw tables. At every role's start: events of a new lender may be saved by a worker started before. */
export async function knowLenders(
  db: Database,
  { lenders }: Pick<Config, 'lenders'>,
): Promise<void> {
  await sql`
    insert into core.lender (code) select unnest(${[...lenders.keys()]}::text[])
    on conflict do nothing`.execute(db)
}
