import { sql } from 'kysely'
import type { Trx } from '../database.ts'

/**
 * Who starts, feeds, cancels or ends a run does it alone. Not by a lock on the migration's own row: the ends of
 * operations, live ones among them, count there.
 */
export async function lockRun(trx: Trx, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(trx)
}

/** @returns whether nobody else has it */
export async function tryLockRun(trx: Trx, id: string): Promise<boolean> {
  const { rows } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${id}, 0)) as "isOurs"`.execute(trx)
  return rows[0]?.isOurs === true
}
