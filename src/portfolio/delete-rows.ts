import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { inSteps } from '../database/in-steps.ts'

/**
 * Deleting this many rows takes about 50 ms: nobody waits longer for our locks, and even twenty million rows never run into a
 * timeout.
 */
const ROWS_AT_ONCE = 10_000

/** Deletes the rows of a migration. `sweepUploads` deletes what a crash or a stop leaves. */
export async function deleteRows(db: Database, migrationId: string, stopping?: AbortSignal) {
  await inSteps(0, after => deleteNext(db, migrationId, after), stopping)
}

/**
 * Deletes a range of lines, so that concurrent deletions lock the rows in the same order.
 * @returns the last line deleted, null at the end
 */
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

/** Deletes rows in the background, because those of a large file take minutes. */
export function backgroundDeletion(db: Database, log: FastifyBaseLogger) {
  const stopping = new AbortController()
  let deletions = Promise.resolve()

  return {
    add(id: string) {
      deletions = deletions
        .then(() => deleteRows(db, id, stopping.signal))
        .catch(error =>
          log.error(
            { err: error, migration: id },
            'deleting the rows of a discarded migration failed',
          ),
        )
    },
    async stop() {
      stopping.abort()
      await deletions
    },
  }
}
