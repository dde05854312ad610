import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { endRun, type RunClaim } from '../../queue/run-claim.ts'

/** `recordPostings` adds the results of payments that end later. */
export async function endBatch(db: Database, claim: RunClaim): Promise<void> {
  await db.transaction().execute(async trx => {
    // The lock is a separate statement, so that the count sees all that was committed before it.
    await sql`select from core.batch_run where id = ${claim.id} for update`.execute(trx)
    const result = sql`status = 'completed', (posted, suspended) = (
      select count(*) filter (where state = 'posted' and kind = 'payment'),
             batch_run.suspended + count(*) filter (where state = 'suspense')
        from core.transaction where batch_id = ${claim.id})`
    await endRun(trx, 'core.batch_run', claim, result)
  })
}
