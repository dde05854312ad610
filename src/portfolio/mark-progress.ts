import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** The rate covers the last one or two intervals: long enough to be steady, short enough to forget an outage. */
const MARK_EVERY = '30 seconds'

/** A mark from before the run's start belongs to an earlier run. */
export async function markProgress(db: Database, id: string): Promise<void> {
  await sql`
    update loanops.migration
       set marked_before_at = marked_at, marked_before_rows = marked_rows,
           marked_at = now(), marked_rows = case when is_dry_run then looked_at else done + failed + stopped end
     where id = ${id} and status = 'running'
       and greatest(started_at, marked_at) < now() - ${MARK_EVERY}::interval`.execute(db)
}
