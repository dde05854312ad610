import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'

export type Runs = {
  batch: { status: string; at: Date; posted: number } | null
  readback: { status: string; at: Date; found: number } | null
  backfill: { status: string; at: Date; missed: number } | null
  migration: { id: string; type: string; done: number; valid_rows: number } | null
}

export async function lastRuns(db: Database): Promise<Runs> {
  const one = (query: ReturnType<typeof sql>) => sql`(select to_json(last) from (${query}) last)`
  const { rows } = await sql<Runs>`
    select ${one(sql`select status, coalesce(ended_at, started_at, requested_at) as at, posted
                       from core.batch_run order by id desc limit 1`)} as batch,
           ${one(sql`select status, coalesce(ended_at, started_at, requested_at) as at,
                            reversed + missing + differing as found
                       from core.readback_run order by id desc limit 1`)} as readback,
           ${one(sql`select status, coalesce(ended_at, started_at, requested_at) as at, missed
                       from core.backfill order by id desc limit 1`)} as backfill,
           ${one(sql`select id, type, done, valid_rows
                       from loanops.migration where status = 'running' order by id desc limit 1`)} as migration`.execute(
    db,
  )
  return rows[0] ?? { batch: null, readback: null, backfill: null, migration: null }
}
