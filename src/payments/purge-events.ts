import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { purgeInSteps } from '../database/purge-in-steps.ts'
import type { Row } from '../database/row.ts'

/** Deleting this many rows takes about 50 ms. */
const ROWS_AT_ONCE = 500
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Purges events. What they said of payments stays in core, so that a repeat of a deleted event is recognized. */
export async function purgeEvents(db: Database, keepDays: number): Promise<number> {
  let purged = 0
  const { rows } = await sql<
    Row<'core.source', 'name'>
  >`select name from core.source order by name`.execute(db)
  for (const { name } of rows)
    purged += await purgeInSteps(BEFORE_ALL, after => deleteNext(db, { name, keepDays, after }))
  return purged
}

type Step = { purged: number; last: string | null }
type From = { name: string; keepDays: number; after: string }

async function deleteNext(db: Database, { name, keepDays, after }: From) {
  const { rows } = await sql<Step>`
    select deleted::integer as purged, last_id as last
      from raw.delete_closed(${name}, ${keepDays}, ${after}, ${ROWS_AT_ONCE})`.execute(db)
  return rows[0] as Step
}
