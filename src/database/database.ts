import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import type { DB } from './database.types.ts'

/** The database, or a transaction in it: a function that takes one works in both. */
export type Database = Kysely<DB>
export type Trx = Transaction<DB>
/** `patient` is the same database where statements may take long. */
export type Databases = { db: Database; patient: Database }

const CONNECT_TIMEOUT_MS = 5_000
/** Whatever a caller, a lease or an operation waits for takes milliseconds: longer than this, and it is stuck. */
const STATEMENT_TIMEOUT_MS = 4_000
/** For work on many rows that nobody waits for: batches, runs of a migration, the purge. */
export const LONG_STATEMENT_MS = 60_000
/** A living server ends a statement itself when its time is up. One that says nothing for so much longer is gone. */
const SILENCE_MS = 1_000
/**
 * How long an unused connection is kept: not as long as it takes to find out that one is dead. When one turns out to be,
 * the pool has already closed those that died with it unused, and the next try gets a new one.
 */
const IDLE_MS = 4_000
/** With long statements that takes too long: they begin on a connection that has just been opened or used. */
const IDLE_WITH_LONG_STATEMENTS_MS = 1_000
/** Whoever holds a row or the intake's lock for longer is stuck itself. */
const LOCK_TIMEOUT_MS = 5_000
/** A process that froze inside a transaction must not hold the intake's lock against the others. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000

export type PoolOptions = {
  max: number
  name: string
  /** How long a statement may take, and a caller may wait for a connection; 0 for as long as they like. */
  statementMs?: number
}
export type DatabaseOptions = PoolOptions & { onError: (error: Error) => void }

/** A pool of its own for one process. Close it with `db.destroy()`. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = new pg.Pool(poolConfig(url, options))
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', options.onError)
  // The pool listens on idle connections only. Without this, one lost between two statements of a transaction would end
  // the process; its next statement fails, and reports it.
  pool.on('connect', client => client.on('error', () => undefined))
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
}

/** How every pool of ours connects, pg-boss's too. */
export function poolConfig(url: string, options: PoolOptions) {
  const { max, name, statementMs = STATEMENT_TIMEOUT_MS } = options
  return {
    connectionString: url,
    max,
    application_name: name,
    connectionTimeoutMillis: Math.max(statementMs, CONNECT_TIMEOUT_MS),
    idleTimeoutMillis: statementMs > IDLE_MS ? IDLE_WITH_LONG_STATEMENTS_MS : IDLE_MS,
    keepAlive: true,
    stream: () => impatientSocket(statementMs === 0 ? 0 : statementMs + SILENCE_MS),
    onConnect: (client: pg.ClientBase) => setLimits(client, statementMs),
  } satisfies pg.PoolConfig
}

/**
 * A connection that is closed as soon as it has been silent for so long, 0 for never. pg's own `query_timeout` only
 * fails the statement: the pool would hand the connection to the next one, which would fail in the same way, or run
 * inside a transaction whose BEGIN arrived after all.
 */
function impatientSocket(silenceMs: number): Socket {
  const socket = new Socket()
  return socket.setTimeout(silenceMs, () =>
    socket.destroy(new Error(`Connection terminated: PostgreSQL was silent for ${silenceMs} ms`)),
  )
}

/**
 * What was accepted is on disk before it is answered, whatever database, role or URL default to; a standby that has to
 * apply it too is more than that. Set here and not as parameters of the start, which PgBouncer refuses.
 */
async function setLimits(client: pg.ClientBase, statementMs: number): Promise<void> {
  const limits = {
    statement_timeout: statementMs,
    // A migration waits for whoever uses what it changes.
    lock_timeout: statementMs === 0 ? 0 : LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  }
  const values = [Object.keys(limits), Object.values(limits)]
  await client.query(
    `select set_config(name, ms::text, false) from unnest($1::text[], $2::integer[]) as limits (name, ms)
     union all
     select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') <> 'remote_apply'`,
    values,
  )
  const { rows } = await client.query<{ name: string; value: string }>(
    `select name, current_setting(name) as value from unnest($1::text[], $2::integer[]) as limits (name, ms)
      where current_setting(name)::interval <> ms * interval '1 millisecond'
     union all
     select 'synchronous_commit', current_setting('synchronous_commit')
      where current_setting('synchronous_commit') not in ('on', 'remote_apply')`,
    values,
  )
  if (rows.length === 0) return
  const left = rows.map(({ name, value }) => `${name} is still ${value}`).join(', ')
  throw new Error(
    `PostgreSQL does not keep the limits of a connection (${left}): connect directly, or through a pooler in session mode`,
  )
}

const ASK_EVERY_MS = 250
/** Longer than a crash recovery of a database of this size takes; then it is no start but an outage. */
const READY_WITHIN_MS = 120_000

/** Waits out "the database system is starting up" and a server that is not there yet. */
export async function untilReady(
  db: Database,
  log: { warn(object: object, message: string): void },
): Promise<void> {
  const until = Date.now() + READY_WITHIN_MS
  for (let isFirst = true; ; isFirst = false) {
    try {
      await sql`select 1`.execute(db)
      return
    } catch (error) {
      if (Date.now() > until || !isTransient(error)) throw error
      if (isFirst) log.warn({ reason: (error as Error).message }, 'waiting for the database')
      await pause(ASK_EVERY_MS)
    }
  }
}

/**
 * PostgreSQL's "not now": connection, resources, operator intervention and time-outs, deadlocks, locks not given in
 * time, a server that only reads after a fail-over; and what pool and sockets say.
 */
export function isTransient(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  if (/^(08|53|57)/.test(code ?? '')) return true
  if (['25006', '25P03', '40001', '40P01', '55P03'].includes(code ?? '')) return true
  if (/^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/.test(code ?? ''))
    return true
  return /connection (terminated|timeout)|timeout exceeded when trying to connect|connection error/i.test(
    message ?? '',
  )
}
