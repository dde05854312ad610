import { sql } from 'kysely'
import type { Database } from '../database.ts'

export type Readiness = {
  status: 'ready' | 'not_ready'
  database: 'ok' | string
  queue: 'ok' | string
  /** Why operations wait for the ledger, whichever process found out; of a worker also the state of its circuit. */
  ledger: { waiting_for: string[] }
}
export type Health = () => Promise<Readiness>

/** A readiness probe must answer before its caller gives up. */
const PATIENCE_MS = 2_000

/**
 * Ready while database, migrations and queue answer. Trouble with the ledger is told, but intake goes on.
 * @param isMigrated whether the tables of this version are there
 */
export function health(
  db: Database,
  isMigrated: (db: Database) => Promise<boolean>,
  ledgerState: () => object | undefined,
): Health {
  return async () => {
    const database = await within(PATIENCE_MS, stateOf(db, isMigrated)).catch(
      () => 'cannot be reached',
    )
    const queue = await within(PATIENCE_MS, sql`select from pgboss.queue limit 1`.execute(db)).then(
      () => 'ok',
      () => 'cannot be reached',
    )
    const waitingFor = await within(PATIENCE_MS, ledgerTroubles(db)).catch(() => [])
    const ledger = { ...ledgerState(), waiting_for: waitingFor }
    const status = database === 'ok' && queue === 'ok' ? 'ready' : 'not_ready'
    return { status, database, queue, ledger }
  }
}

async function stateOf(db: Database, isMigrated: (db: Database) => Promise<boolean>) {
  const { rows } = await sql<{ onlyReads: boolean }>`
    select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "onlyReads"`.execute(
    db,
  )
  if (rows[0]?.onlyReads) return 'only reads'
  return (await isMigrated(db)) ? 'ok' : 'is behind: run migrate'
}

async function ledgerTroubles(db: Database): Promise<string[]> {
  const { rows } = await sql<{ reason: string }>`
    select reason
      from unnest(array['ledger_unavailable', 'ledger_busy', 'ledger_credentials', 'ledger_approval',
                         'outcome_unknown']) reason
     where exists (select from loanops.operation where status = 'processing' and waiting_for = reason)`.execute(
    db,
  )
  return rows.map(({ reason }) => reason)
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('too slow')), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
