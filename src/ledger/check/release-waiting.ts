import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { inSteps } from '../../database/in-steps.ts'
import { CORRECTED_WITHIN_MS } from '../reference/cached.ts'

/** A worker that finishes or claims one of these operations meanwhile waits for a few milliseconds at most. */
const ROWS_AT_ONCE = 1_000

/**
 * Lets operations that wait for the ledger's set-up be tried again, once no worker uses what it read before the
 * correction.
 */
export async function releaseWaiting(db: Database): Promise<void> {
  await inSteps(true, async () => {
    const { numAffectedRows = 0n } = await sql`
      update loanops.operation set next_try_at = now() + ${CORRECTED_WITHIN_MS} * interval '1 millisecond'
       where id = any(array(
         select id from loanops.operation
          where status = 'processing' and waiting_for = 'ledger_credentials' and claimed_by is null 
            and next_try_at > now() + ${CORRECTED_WITHIN_MS} * interval '1 millisecond'
          order by id limit ${ROWS_AT_ONCE} for update skip locked))`.execute(db)
    return numAffectedRows === BigInt(ROWS_AT_ONCE) ? true : null
  })
}
