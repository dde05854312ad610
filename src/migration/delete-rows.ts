import { sql } from 'kysely'
import type { Database } from '../database.ts'

/** Some hundredths of a second each: nobody waits for it, however many rows there are. */
const ROWS_PER_STATEMENT = 10_000

/** Deletes the rows of a migration that is gone, a part at a time. */
export async function deleteRows(db: Database, id: string, stopping: AbortSignal): Promise<void> {
  for (let after = 0; !stopping.aborted; ) {
    // Each part begins behind the last one, not at the first row: that would read all that are deleted again.
    const { rows } = await sql<{ last: number | null }>`
      with part as (
        select line from loanops.migration_row
         where migration_id = ${id} and line > ${after} order by line limit ${ROWS_PER_STATEMENT}
      ), gone as (
        delete from loanops.migration_row r using part where r.migration_id = ${id} and r.line = part.line
      )
      select max(line) as last from part`.execute(db)
    const last = rows[0]?.last
    if (last === null || last === undefined) return
    after = last
  }
}
