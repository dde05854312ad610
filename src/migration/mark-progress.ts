import { sql } from 'kysely'
import type { Database } from '../database.ts'

/** The rate is that of the last one or two of these: long enough to be steady, short enough to forget an outage. */
const MARK_EVERY = '30 seconds'

/** Notes now and then how many rows of a run have ended. A mark from before its start is of an earlier run. */
export async function markProgress(db: Database, id: string): Promise<void> {
  await sql`
    update loanops.migration
       set marked_before_at = marked_at, marked_before_rows = marked_rows,
           marked_at = now(), marked_rows = case when is_dry_run then looked_at else done + failed + stopped end
     where id = ${id} and status = 'running'
       and greatest(started_at, marked_at) < now() - ${MARK_EVERY}::interval`.execute(db)
}
