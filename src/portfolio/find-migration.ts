import { sql } from 'kysely'
import type { Database, Row } from '../database/database.ts'
import { equalTo } from '../database/equal-to.ts'
import { openView } from '../http/lists/open-view.ts'
import { rowById } from '../http/lists/row-by-id.ts'
import type { MigrationRecord } from './migration-record.ts'
import type { FileLayout } from './uploaded-rows.ts'

const migrations = sql<object>`
  select v.migration_id, v.type, v.status, v.rows, v.valid_rows, v.invalid_rows, v.done, v.failed, v.stopped,
         v.uploaded_at, v.started_at, v.ended_at, v.is_dry_run, v.looked_at, v.file_name, v.file_sha256, v.same_as,
         -- Dry runs of earlier versions lack this count.
         ('{"unknown": 0}'::jsonb || m.dry_run::jsonb)::json as dry_run,
         round(speed.per_second, 2)::float8 as rate_per_second,
         case when v.status = 'running' and speed.per_second > 0
           then now() + (v.valid_rows - e.ended) / speed.per_second * interval '1 second' end as estimated_end_at
    from ops.migration v
    join loanops.migration m on m.id = v.migration_id
   cross join lateral (
     select case when m.is_dry_run then m.looked_at else m.done + m.failed + m.stopped end as ended) e
   -- The rate is the recent one while the migration runs, and the average once it has ended.
   cross join lateral (
     select case when m.status = 'running' and m.marked_before_at >= m.started_at then m.marked_before_at
                 else m.started_at end as since,
            case when m.status = 'running' and m.marked_before_at >= m.started_at then m.marked_before_rows
                 when m.is_dry_run then 0
                 else m.ended_before end as ended) mark
   cross join lateral (
     select (e.ended - mark.ended)
              / greatest(extract(epoch from coalesce(m.ended_at, now()) - mark.since), 0.001) as per_second) speed`
const view = openView<MigrationRecord>(migrations, 'migration_id', 'migration')
export const findMigration = view.one

type MigrationsQuery = { type?: string; status?: string; limit: number; cursor?: string }

export function listMigrations(db: Database, query: MigrationsQuery) {
  const wanted = equalTo({ 'v.type': query.type, 'v.status': query.status })
  return view.page(db, query, wanted)
}

export async function readLayout(db: Database, id: string): Promise<FileLayout> {
  const layout = sql<Row<'loanops.migration', keyof FileLayout>>`
    select id, columns, delimiter from loanops.migration where id = ${id} and status <> 'uploading'`
  return rowById(db, id, `No migration ${id}`, layout)
}
