import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { LEASE_SECONDS } from '../database/lease.ts'
import { publicError } from '../public-error.ts'

/** Whatever interrupted the run, such as an unavailable database, takes more than a moment to pass. */
const REST_SECONDS = 5

/** A run that only this process works on until the lease ends. */
export type BatchClaim = {
  id: string
  /** How often the run has been claimed: who writes under an older number has lost its lease. Column `attempt`. */
  number: number
}

/** Continues the run of a worker that died, or starts the waiting one, unless another run is in progress. */
export async function claimBatch(db: Database): Promise<BatchClaim | undefined> {
  const { rows } = await sql<BatchClaim>`
    update core.batch_run
       set status = 'running', started_at = coalesce(started_at, now()), attempt = attempt + 1,
           claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
     where id = (
       select id from core.batch_run
        where status = 'running' and claimed_until < now()
           or status = 'waiting' and not exists (select from core.batch_run where status = 'running')
        order by status
        limit 1 for update skip locked)
    returning id, attempt as number`.execute(db)
  return rows[0]
}

/** @returns false if another worker has claimed the run */
export async function renewBatch(db: Database, { id, number }: BatchClaim): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update core.batch_run set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
     where id = ${id} and attempt = ${number} and status = 'running'`.execute(db)
  return numAffectedRows === 1n
}

/** Releases a run to the next worker: at once, or some time after the error that interrupted it. */
export async function releaseBatch(
  db: Database,
  { id, number }: BatchClaim,
  error: Error | null,
): Promise<void> {
  const restSeconds = error === null ? 0 : REST_SECONDS
  await sql`
    update core.batch_run
       set claimed_until = now() + make_interval(secs => ${restSeconds}),
           last_error = coalesce(${error && publicError(error).message}, last_error)
     where id = ${id} and attempt = ${number} and status = 'running'`.execute(db)
}

/** Records which part of a run failed, and why. */
export async function noteError(
  db: Database,
  { id }: BatchClaim,
  part: string,
  error: unknown,
): Promise<void> {
  const message = `${part}: ${publicError(error as Error).message}`
  await sql`update core.batch_run set last_error = ${message} where id = ${id}`.execute(db)
}

/** Ends a run and counts the results of its payments; `recordPostings` adds those that end later. */
export async function endBatch(db: Database, { id, number }: BatchClaim): Promise<void> {
  await db.transaction().execute(async trx => {
    // A separate statement, so that the count sees whatever was committed before this lock.
    await sql`select from core.batch_run where id = ${id} for update`.execute(trx)
    await sql`
      update core.batch_run b
         set status = 'completed', ended_at = clock_timestamp(), claimed_until = null,
             posted = t.posted, suspended = b.suspended + t.refused
        from (select count(*) filter (where state = 'posted') as posted,
                     count(*) filter (where state = 'suspense') as refused
                from core.transaction where batch_id = ${id}) t
       where b.id = ${id} and b.attempt = ${number} and b.status = 'running'`.execute(trx)
  })
}
