import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { RunClaim } from '../../queue/run-claim.ts'

/** `recordPostings` adds the results of payments that end later. */
export async function endBatch(db: Database, { id, number }: RunClaim): Promise<void> {
  await db.transaction().execute(async trx => {
    // The lock is a separate statement, so that the count sees all that was committed before it.
    await sql`select from core.batch_run where id = ${id} for update`.execute(trx)
    await sql`
      update core.batch_run b
         set status = 'completed', ended_at = clock_timestamp(), claimed_until = null,
             posted = t.posted, suspended = b.suspended + t.refused
        from (select count(*) filter (where state = 'posted' and kind = 'payment') as posted,
                     count(*) filter (where state = 'suspense') as refused
                from core.transaction where batch_id = ${id}) t
       where b.id = ${id} and b.attempt = ${number} and b.status = 'running'`.execute(trx)
  })
}
