import { Kysely, PostgresDialect, type Selectable, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { asError, type Log } from '../log/log.ts'
import type { DB } from './database.types.ts'
import { sessionsOf } from './pool/dead-connection.ts'
import { type PoolOptions, poolConfig } from './pool/pool-config.ts'
import { giveUpPoolOf } from './pool/read-only.ts'
import { retry } from './retry.ts'
import { isDeadlock } from './transient.ts'

export type Database = Kysely<DB>
export type Trx = Transaction<DB>
/** `patient` is for statements that may take long. */
export type Databases = { db: Database; patient: Database }

type DatabaseOptions = PoolOptions & { onError: (error: Error) => void }

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = new pg.Pool(poolConfig(url, options))
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', error => {
    // PostgreSQL may end with us.
    if (!pool.ending) options.onError(error)
  })
  const clients = new Set<pg.ClientBase>()
  pool.on('connect', client => clients.add(client))
  pool.on('remove', client => clients.delete(client))
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
  pools.set(db, { pool, clients })
  return db
}

export const logLosses = (log: Pick<Log, 'error'>) => asError(log, 'database connection error')

const pools = new WeakMap<Database, { pool: pg.Pool; clients: Set<pg.ClientBase> }>()

export function poolUse(db: Database): { busy: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db)?.pool ?? {}
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
}

/** Lets the next statements run in new sessions, which may reach another server. */
export function giveUpSessions(db: Database): void {
  for (const client of pools.get(db)?.clients ?? []) giveUpPoolOf(client)
}

/**
 * Ends the connections whose statements have been under way for long. A cancelled statement would look as if it could
 * never end in time, and its row as if it could not be read.
 * @param by another pool of the same login
 */
export async function endLongStatements(db: Database, by: Database): Promise<void> {
  const sessions = sessionsOf(pools.get(db)?.clients ?? [])
  await sql`
    select pg_terminate_backend(a.pid)
      from json_to_recordset(${JSON.stringify(sessions)}) as s (pid integer, "startedAt" timestamptz)
      join pg_stat_activity a on a.pid = s.pid and a.backend_start = s."startedAt"
     where a.state = 'active'
       and a.query_start < clock_timestamp() - interval '1 second'`.execute(by)
}

/** These columns of a table, as a statement returns them. */
export type Row<Table extends keyof DB, Column extends keyof Selectable<DB[Table]>> = Pick<
  Selectable<DB[Table]>,
  Column
>

/** A page of the console must be loaded within four seconds. */
const WITHIN_MS = 2_500

/**
 * Runs `work` in the given transaction. Given none, it begins one, and begins again after a deadlock: a request cannot wait
 * for another round, as jobs do, whose transactions are plain ones.
 */
export function inTransaction<T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Trx)
  const retries = { withinMs: WITHIN_MS, everyMs: 0, mayPass: isDeadlock }
  return retry(() => db.transaction().execute(work), retries)
}
