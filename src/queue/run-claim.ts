import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { DB } from '../database/database.types.ts'
import { leaseEnd } from '../database/lease.ts'
import { publicReason } from '../log/public-error.ts'

export type RunTable = keyof DB & `core.${string}_run`

/** Every table with leases, including those of runs that are claimed in another way. */
export type LeasedTable = keyof DB

export type RunClaim = {
  id: string
  /** How many times the run was claimed, in column `attempt`; a writer with an older number has lost its lease. */
  number: number
}

/** The reason for the interruption, such as an unavailable database, takes more than a moment to pass. */
const REST_SECONDS = 5

export async function claimRun(db: Database, table: RunTable): Promise<RunClaim | undefined> {
  const runs = sql.table(table)
  const { rows } = await sql<RunClaim>`
    update ${runs}
       set status = 'running', started_at = coalesce(started_at, now()), attempt = attempt + 1,
           claimed_until = ${leaseEnd}
     where id = (
       select id from ${runs}
        where status = 'running' and claimed_until < now()
           or status = 'waiting' and not exists (select from ${runs} where status = 'running')
        order by status
        limit 1 for update skip locked)
    returning id, attempt as number`.execute(db)
  return rows[0]
}

export async function renewRun(db: Database, table: LeasedTable, { id, number }: RunClaim) {
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set claimed_until = ${leaseEnd}
     where id = ${id} and attempt = ${number} and status = 'running'`.execute(db)
  return numAffectedRows === 1n
}

export async function releaseRun(
  db: Database,
  table: LeasedTable,
  { id, number }: RunClaim,
  error: Error | null,
): Promise<void> {
  const restSeconds = error === null ? 0 : REST_SECONDS
  await sql`
    update ${sql.table(table)}
       set claimed_until = now() + make_interval(secs => ${restSeconds}),
           last_error = coalesce(${error && publicReason(error)}, last_error)
     where id = ${id} and attempt = ${number} and status = 'running'`.execute(db)
}

/** @param result the columns that are set with the end */
export async function endRun(
  db: Database,
  table: LeasedTable,
  { id, number }: RunClaim,
  result: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    update ${sql.table(table)} set ended_at = clock_timestamp(), claimed_until = null, ${result}
     where id = ${id} and attempt = ${number} and status = 'running'`.execute(db)
}
