import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { LOCKS } from '../../database/locks.ts'

/** Locks a run, but not the migration's row, because operations that end update the counts there. */
export async function lockRun(trx: Trx, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(trx)
}

/** Serializes starts, so that each check for conflicting runs sees all that have started. */
export async function lockStarts(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCKS.portfolioStarts})`.execute(trx)
}

export async function tryLockRun(trx: Trx, id: string): Promise<boolean> {
  const { rows } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${id}, 0)) as "isOurs"`.execute(trx)
  return rows[0]?.isOurs === true
}
