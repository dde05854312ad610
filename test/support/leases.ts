import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'

/** As if a dead process's leases and its jobs' heartbeats had run out: only their seconds are skipped. */
export async function expireLeases(db: Database): Promise<void> {
  await sql`update core.batch_run set claimed_until = now() where status = 'running'`.execute(db)
  await sql`
    update pgboss.job set state = 'retry', start_after = now()
     where state = 'active'`.execute(db)
  await sql`
    update loanops.operation set claimed_until = now() - interval '1 second'
     where claimed_by is not null`.execute(db)
}
