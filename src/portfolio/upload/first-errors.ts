import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

const MAX_LISTED = 100

export async function firstErrors(db: Database, id: string) {
  const { rows } = await sql<{ line: number; reason: string }>`
    select line, reason from loanops.migration_row
     where migration_id = ${id} and state = 'invalid' order by line limit ${MAX_LISTED}`.execute(db)
  return rows
}
