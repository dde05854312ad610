import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'

/** The transaction of this database that waits for an advisory lock. */
export async function waitingTransaction(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ virtualtransaction: string }>`
    select virtualtransaction from pg_locks
     where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows[0]?.virtualtransaction
}

/** The statement of this database that waits until another transaction ends, because of a row that it changed. */
export async function waitingForRow(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ query: string }>`
    select query from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'
       and wait_event in ('transactionid', 'tuple')`.execute(db)
  return rows[0]?.query
}

/** Any number that nothing else uses. */
const HELD = 7405399

/**
 * While `work` runs, transactions that bring a row of core.transaction into a state where `condition` holds do not commit, as if
 * a standby confirmed them late: what they wrote stays locked, and nobody sees it.
 */
export async function holdCommits<T>(
  db: Database,
  condition: RawBuilder<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  await sql`
    create function public.hold_commit() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${sql.lit(HELD)});
      return null;
    end $$;
    create constraint trigger hold_commit after update on core.transaction deferrable initially deferred
      for each row when (${condition}) execute function public.hold_commit()`.execute(db)
  return db.transaction().execute(async trx => {
    await sql`select pg_advisory_xact_lock(${HELD})`.execute(trx)
    return work()
  })
}
