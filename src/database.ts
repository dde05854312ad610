import { setTimeout as pause } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import type { DB } from './database.types.ts'

/** The database, or a transaction in it: a function that takes one works in both. */
export type Database = Kysely<DB>
export type Trx = Transaction<DB>

const CONNECT_TIMEOUT_MS = 5_000
/** No statement of ours takes as long in health; one that hangs must not hold its connection for ever. */
const STATEMENT_TIMEOUT_MS = 60_000
/** A server that is frozen answers nothing at all, not even that time is up: it is given up so long after that. */
const SILENCE_MS = 5_000
/** Whoever holds a row or the intake's lock for longer is stuck itself. */
const LOCK_TIMEOUT_MS = 5_000
/** A process that froze inside a transaction must not hold the intake's lock against the others. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000

/**
 * What was accepted is on disk before it is answered, whatever database or role default to; a standby that has to apply
 * it too is more than that. Not a parameter of the start: the URL may bring options of its own, which would replace it.
 */
const COMMIT_TO_DISK = `
  select set_config('synchronous_commit', 'on', false)
   where current_setting('synchronous_commit') <> 'remote_apply'`

export type DatabaseOptions = {
  max: number
  name: string
  onError: (error: Error) => void
  /** For a pool of statements that take long in health, 0 for as long as they like; who wants one waits as long for those before. */
  longStatementMs?: number
}

/** A pool of its own for one process. Close it with `db.destroy()`. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { longStatementMs } = options
  const statementTimeoutMs = longStatementMs ?? STATEMENT_TIMEOUT_MS
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max,
    application_name: options.name,
    connectionTimeoutMillis: longStatementMs || CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: longStatementMs === 0 ? 0 : statementTimeoutMs + SILENCE_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    onConnect: client => client.query(COMMIT_TO_DISK),
  })
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', options.onError)
  // The pool listens on idle connections only. Without this, one lost between two statements of a transaction would end
  // the process; its next statement fails, and reports it.
  pool.on('connect', client => client.on('error', () => undefined))
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
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
  return /connection (terminated|timeout)|timeout exceeded when trying to connect|connection error|query read timeout/i.test(
    message ?? '',
  )
}
