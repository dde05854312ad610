import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'

/**
 * Who starts, feeds, cancels or ends a run does it alone. Not by a lock on the migration's own row: the ends of
 * operations, live ones among them, count there.
 */
export async function lockRun(trx: Trx, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(trx)
}

/** Any number will do, as long as every copy of this program uses the same one. */
const STARTS_LOCK = 7_405_317

/** What decides whether a run may start beside the others sees all that have started. */
export async function lockStarts(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${STARTS_LOCK})`.execute(trx)
}

/** @returns whether nobody else has it */
export async function tryLockRun(trx: Trx, id: string): Promise<boolean> {
  const { rows } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${id}, 0)) as "isOurs"`.execute(trx)
  return rows[0]?.isOurs === true
}
