import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { inSteps } from '../database/in-steps.ts'
import type { Row } from '../database/row.ts'

/** Deleting this many rows takes about 50 ms. */
const ROWS_AT_ONCE = 500
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Purges events. What they said of payments stays in core, so that a repeat of a deleted event is recognized. */
export async function purgeEvents(db: Database, keepDays: number): Promise<number> {
  let deleted = 0
  const { rows } = await sql<
    Row<'core.source', 'name'>
  >`select name from core.source order by name`.execute(db)
  for (const { name } of rows)
    await inSteps(BEFORE_ALL, async after => {
      const step = await deleteNext(db, { name, keepDays, after })
      deleted += step.deleted
      return step.last
    })
  return deleted
}

type From = { name: string; keepDays: number; after: string }

async function deleteNext(db: Database, { name, keepDays, after }: From) {
  const { rows } = await sql<{ deleted: number; last: string | null }>`
    select deleted::integer, last_id as last
      from raw.delete_closed(${name}, ${keepDays}, ${after}, ${ROWS_AT_ONCE})`.execute(db)
  return rows[0] as { deleted: number; last: string | null }
}
