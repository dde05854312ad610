import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { LOCKS } from '../../database/locks.ts'
import type { ReferenceName } from './reference-record.ts'

/** Locks one value: it has one change at a time, while changes of other values go on. */
export async function lockReference(trx: Trx, { gateway, kind, value }: ReferenceName) {
  await sql`
    select pg_advisory_xact_lock_shared(${sql.lit(LOCKS.references)}),
           pg_advisory_xact_lock(${sql.lit(LOCKS.references)}, hashtext(${gateway} || core.reference_key(${kind}, ${value})))`.execute(
    trx,
  )
}

/**
 * Locks all values, for a part of a file: a lock for each of its values would take more of them than PostgreSQL has
 * room for.
 */
export async function lockAllReferences(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCKS.references)})`.execute(trx)
}
