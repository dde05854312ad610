import { sql } from 'kysely'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import type { Database, Trx } from '../../database/database.ts'
import { leaseEnd } from '../../database/lease.ts'
import { LOCKS } from '../../database/locks.ts'
import { RunLeft } from '../../queue/keep-claim.ts'
import { endRun, type RunClaim } from '../../queue/run-claim.ts'
import { nameOf } from './accounts.ts'

export type BackfillClaim = RunClaim & {
  /** The lender whose rows it saves; null: the one that each payment names. */
  lender: string | null
  fetchFrom: Date
  doneUntil: Date
  /** The end of the fetch, never in the future, which cannot be complete. */
  fetchTo: Date
  fetched: number
}

export function claimBackfill(db: Database, account: GatewayAccount) {
  return db.transaction().execute(async trx => {
    // Without this lock, two workers might each start one.
    await sql`select pg_advisory_xact_lock(${LOCKS.backfillClaims})`.execute(trx)
    const { rows } = await sql<BackfillClaim>`
      update core.backfill
         set attempt = attempt + 1, started_at = coalesce(started_at, now()), fetched = fetched_before,
             claimed_until = ${leaseEnd}
       where id = (
         select id from core.backfill
          where gateway = ${account.gateway} and account = ${nameOf(account)} and status = 'running'
            and not exists (
              select from core.backfill
               where gateway = ${account.gateway} and account = ${nameOf(account)} and status = 'running'
                 and claimed_until >= now())
          -- Only a scheduled fetch finds new webhooks that were lost; others may be many, and take hours. But where one takes
          -- longer than until the next is due, the others have their turns between.
          order by attempt = 0, (trigger = 'schedule') = coalesce((
            select trigger = 'schedule' from core.backfill
             where gateway = ${account.gateway} and account = ${nameOf(account)} and status <> 'running'
             order by ended_at desc limit 1), false), id
          limit 1)
      returning id, attempt as number, lender, fetch_from as "fetchFrom", done_until as "doneUntil",
                greatest(fetch_from, least(window_to, now())) as "fetchTo",
                fetched_before::integer as fetched`.execute(trx)
    return rows[0]
  })
}

/** @throws RunLeft if another worker has claimed it */
export async function fence(trx: Trx, { id, number }: BackfillClaim): Promise<void> {
  const { rows } = await sql`
    select from core.backfill where id = ${id} and attempt = ${number} and status = 'running'
       for update`.execute(trx)
  if (rows.length === 0) throw new RunLeft()
}

/** Ends a fetch that failed. What it stored stays, but its window does not count as complete. */
export function failBackfill(db: Database, claim: RunClaim, reason: string): Promise<void> {
  return endRun(db, 'core.backfill', claim, sql`status = 'failed', last_error = ${reason}`)
}
