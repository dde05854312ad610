import { sql } from 'kysely'
import type { Database, Row } from '../database/database.ts'
import { type PurgeRun, purgeInSteps } from '../database/purge-in-steps.ts'
import { FIRST_ID } from '../ids.ts'

/** Deleting this many rows takes about 50 ms. */
const ROWS_AT_ONCE = 500

/** What events said of payments stays in core, so that a repeat of a deleted event is recognized. */
export const purgeEvents: PurgeRun = async (db, retentionDays, stopping) => {
  let purged = 0
  const { rows } = await sql<Row<'core.source', 'name'>>`
    select name from core.source order by name`.execute(db)
  for (const { name } of rows)
    purged += await purgeInSteps(
      FIRST_ID,
      after => deleteNext(db, { name, retentionDays, after }),
      stopping,
    )
  return purged
}

type Step = { purged: number; last: string | null }
type From = { name: string; retentionDays: number; after: string }

async function deleteNext(db: Database, { name, retentionDays, after }: From) {
  const { rows } = await sql<Step>`
    select deleted::integer as purged, last_id as last
      from raw.delete_closed(${name}, ${retentionDays}, ${after}, ${ROWS_AT_ONCE})`.execute(db)
  return rows[0] as Step
}
