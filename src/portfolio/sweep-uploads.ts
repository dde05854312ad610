import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { deleteRows } from './delete-rows.ts'

/** If an upload shows no sign of life for this long, its process is gone. */
const ABANDONED_AFTER = '1 day'

export async function sweepUploads(db: Database, stopping?: AbortSignal): Promise<void> {
  await sql`
    delete from loanops.migration
     where status = 'uploading' and uploaded_at < now() - ${ABANDONED_AFTER}::interval`.execute(db)
  for (const id of await withoutMigration(db)) await deleteRows(db, id, stopping)
}

/**
 * Ids of migrations that no longer exist but still have rows: a discard deletes the migration first. This takes one
 * index step per id.
 */
async function withoutMigration(db: Database): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive of_rows (id) as (
      (select migration_id from loanops.migration_row order by migration_id limit 1)
      union all
      select (select migration_id from loanops.migration_row
               where migration_id > of_rows.id order by migration_id limit 1)
        from of_rows where of_rows.id is not null
    )
    select id from of_rows
     where id is not null
       and not exists (select from loanops.migration m where m.id = of_rows.id)`.execute(db)
  return rows.map(({ id }) => id)
}
