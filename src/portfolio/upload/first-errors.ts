import { sql } from 'kysely'
import { MAX_LISTED } from '../../csv/invalid-row.ts'
import type { Database } from '../../database/database.ts'

export async function firstErrors(db: Database, id: string) {
  const { rows } = await sql<{ line: number; reason: string }>`
    select line, reason from loanops.migration_row
     where migration_id = ${id} and state = 'invalid' order by line limit ${MAX_LISTED}`.execute(db)
  return rows
}
