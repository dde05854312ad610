import { sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import { until } from '../until.ts'

/** Waits until as many sessions of this database wait for a lock. @param name only those with this application name */
export async function untilSessionsWait(
  db: Database,
  { count = 1, name = '%' }: { count?: number; name?: string } = {},
): Promise<void> {
  await until(async () => {
    const { rows } = await sql`
      select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'
         and application_name like ${name}`.execute(db)
    return rows.length >= count
  })
}

/** Ends every session of the service, as PostgreSQL does when it shuts down. */
export async function endSessions(db: Database): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'loanops%'`.execute(db)
}
