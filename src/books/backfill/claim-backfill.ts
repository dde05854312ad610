import { sql } from 'kysely'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import type { Database, Trx } from '../../database/database.ts'
import { LEASE_SECONDS } from '../../database/lease.ts'
import { publicError } from '../../public-error.ts'
import { nameOf } from './accounts.ts'

/** Any number, as long as nothing else uses it. */
const CLAIMING_LOCK = 7_405_320
/** Whatever interrupted the fetch, such as an unavailable database, takes more than a moment to pass. */
const REST_SECONDS = 5

/** A fetch that only this process works on until the lease ends; `attempt` fences its writes. */
export type BackfillClaim = {
  id: string
  attempt: number
  /** The lender whose rows it makes; null: as each payment says. */
  lender: string | null
  fetchFrom: Date
  /** What came before is done. */
  doneUntil: Date
  /** Never in the future, for which nothing is complete. */
  fetchTo: Date
  fetched: number
}

/** The process is stopping, or another worker has claimed the fetch, which continues where this one was. */
export class BackfillLeft extends Error {
  constructor() {
    super('the fetch continues on another worker')
  }
}

/** Continues the fetch of a worker that died, or starts the oldest one, unless another one of the account is under way. */
export function claimBackfill(
  db: Database,
  account: GatewayAccount,
): Promise<BackfillClaim | undefined> {
  return db.transaction().execute(async trx => {
    // Otherwise two workers might each start one.
    await sql`select pg_advisory_xact_lock(${CLAIMING_LOCK})`.execute(trx)
    const { rows } = await sql<BackfillClaim>`
      update core.backfill
         set attempt = attempt + 1, started_at = coalesce(started_at, now()), fetched = fetched_before,
             claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
       where id = (
         select id from core.backfill
          where gateway = ${account.gateway} and account = ${nameOf(account)} and status = 'running'
            and not exists (
              select from core.backfill
               where gateway = ${account.gateway} and account = ${nameOf(account)} and status = 'running'
                 and claimed_until >= now())
          order by attempt = 0, id
          limit 1)
      returning id, attempt, lender, fetch_from as "fetchFrom", done_until as "doneUntil",
                greatest(fetch_from, least(window_to, now())) as "fetchTo", fetched_before::integer as fetched`.execute(
      trx,
    )
    return rows[0]
  })
}

/** @returns false if another worker has claimed it */
export async function renewBackfill(
  db: Database,
  { id, attempt }: BackfillClaim,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update core.backfill set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
     where id = ${id} and attempt = ${attempt} and status = 'running'`.execute(db)
  return numAffectedRows === 1n
}

/** Locks it for the transaction. @throws BackfillLeft if another worker has claimed it */
export async function fence(trx: Trx, { id, attempt }: BackfillClaim): Promise<void> {
  const { rows } = await sql`
    select from core.backfill where id = ${id} and attempt = ${attempt} and status = 'running'
       for update`.execute(trx)
  if (rows.length === 0) throw new BackfillLeft()
}

/** Releases it to the next worker: at once, or some time after the error that interrupted it. */
export async function releaseBackfill(
  db: Database,
  { id, attempt }: BackfillClaim,
  error: Error | null,
): Promise<void> {
  await sql`
    update core.backfill
       set claimed_until = now() + make_interval(secs => ${error === null ? 0 : REST_SECONDS}),
           last_error = coalesce(${error && publicError(error).message}, last_error)
     where id = ${id} and attempt = ${attempt} and status = 'running'`.execute(db)
}

/** Ends it for good: what it kept stays, and its window does not count as complete. */
export async function failBackfill(
  db: Database,
  { id, attempt }: BackfillClaim,
  reason: string,
): Promise<void> {
  await sql`
    update core.backfill
       set status = 'failed', ended_at = clock_timestamp(), claimed_until = null, last_error = ${reason}
     where id = ${id} and attempt = ${attempt} and status = 'running'`.execute(db)
}
