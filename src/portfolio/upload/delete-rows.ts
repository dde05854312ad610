import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

/** Some 50 ms of work: nobody waits longer for a lock of ours, and a file of twenty million rows never meets a time limit. */
const ROWS_AT_ONCE = 10_000

/**
 * Deletes the rows of a migration that is deleted itself, in transactions of their own. What a crash or a stop leaves,
 * `sweepUploads` takes up.
 */
export async function deleteRows(
  db: Database,
  migrationId: string,
  stopping?: AbortSignal,
): Promise<void> {
  for (let after: number | null = 0; after !== null && !stopping?.aborted; ) {
    const startedAt = performance.now()
    after = await deleteNext(db, migrationId, after)
    // Half of the time belongs to the others.
    if (after !== null) await setTimeout(performance.now() - startedAt)
  }
}

/** A range, so that two who delete the same lock the rows in the same order. @returns the last line deleted, null at the end */
async function deleteNext(db: Database, id: string, after: number): Promise<number | null> {
  const { rows } = await sql<{ last: number | null }>`
    with next as (
      select max(line) as last
        from (select line from loanops.migration_row
               where migration_id = ${id} and line > ${after} order by line limit ${ROWS_AT_ONCE}) lines
    ), deleted as (
      delete from loanops.migration_row
       where migration_id = ${id} and line > ${after} and line <= (select last from next)
    )
    select last from next`.execute(db)
  return rows[0]?.last ?? null
}
