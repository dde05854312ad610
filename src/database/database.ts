import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import type { Log } from '../log/log.ts'
import type { DB } from './database.types.ts'
import { type PoolOptions, poolConfig } from './pool/pool-config.ts'

export type Database = Kysely<DB>
export type Trx = Transaction<DB>
/** `patient` is for statements that may take long. */
export type Databases = { db: Database; patient: Database }

export type DatabaseOptions = PoolOptions & { onError: (error: Error) => void }

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = new pg.Pool(poolConfig(url, options))
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', error => {
    // PostgreSQL may end with us.
    if (!pool.ending) options.onError(error)
  })
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
  pools.set(db, pool)
  return db
}

/** The listener for a pool's `onError`. */
export const logLosses = (log: Pick<Log, 'error'>) => (error: Error) =>
  log.error({ err: error }, 'database connection error')

const pools = new WeakMap<Database, pg.Pool>()

export function poolUse(db: Database): { busy: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db) ?? {}
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
}
