import { type RawBuilder, sql } from 'kysely'
import type { Row, Trx } from '../../database/database.ts'
import { released } from '../claim/heads.ts'
import type { Refusal } from '../refusal.ts'
import { type Decision, decideRefusal } from './decide.ts'
import { cancelledRefusal } from './own-refusals.ts'

/**
 * Whether an unfinished operation has left nothing at the ledger, and can leave nothing there once its row is ended: what
 * was sent has ended without an effect, and a claim that has not recorded its sending finds no row to record it in.
 */
export const isUnsent = sql`(not o.look_first and not o.may_still_run and o.unknown_since is null
  and (o.claimed_by is null or o.sent_attempt is distinct from o.attempt))`

/** Removes those of these operations that were never tried, and ends as cancelled those whose tries left nothing. */
export async function takeBackUnsent(trx: Trx, ids: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<Row<'loanops.operation', 'id'>>`
    select o.id from loanops.operation o
     where o.id in (${ids}) and o.status = 'processing' and ${isUnsent}
     order by o.id for update`.execute(trx)
  const unsent = rows.map(({ id }) => id)
  // A statement of its own, because the first one would not see attempts recorded while it waited for locks.
  await sql`
    delete from loanops.operation o
     where id = any(${unsent})
       and not exists (select from loanops.operation_attempt
                        where operation_id = o.id)`.execute(trx)
  await endAsRefused(trx, unsent, cancelledRefusal)
}

export async function endAsRefused(trx: Trx, ids: string[], reason: Refusal): Promise<Decision> {
  const decision = decideRefusal(reason)
  await sql`
    update loanops.operation
       set status = 'failed', response = ${JSON.stringify(decision.response)}::json, error_message = ${decision.errorMessage},
           processed_at = clock_timestamp(), waiting_for = null, ${released}
     where id = any(${ids})`.execute(trx)
  return decision
}
