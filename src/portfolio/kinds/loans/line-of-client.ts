import { sql } from 'kysely'
import type { Database } from '../../../database/database.ts'

/** @returns the line whose run creates the client: the first one in the order in which a run takes them */
export async function lineOfClient(
  db: Database,
  migrationId: string,
  client: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ line: number }>`
    select line from loanops.migration_row
     where migration_id = ${migrationId} and client_external_id = ${client} and state = 'valid'
     order by loan_external_id, on_date, line limit 1`.execute(db)
  return rows[0]?.line
}
