import type pg from 'pg'
import { closeOnceDead } from './dead-connection.ts'
import { ImpatientSocket } from './impatient-socket.ts'
import { keepPlans } from './prepared.ts'
import { Client } from './transient.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** Anything that a caller, a lease or an operation waits for takes milliseconds: after this long it is stuck. */
const STATEMENT_TIMEOUT_MS = 4_000
/** For work on many rows that nobody is waiting for: batches, runs of a migration, the purge. */
export const LONG_STATEMENT_MS = 60_000
/** A live server cancels a statement itself when its time is up. One that stays silent this much longer is gone. */
const SILENCE_MS = 1_000
/** Less than it takes to find a connection dead, so that the next try gets a new one. */
const IDLE_MS = 4_000
/** Discovering a dead connection takes longer with long statements, so they use one that was just opened or used. */
const IDLE_WITH_LONG_STATEMENTS_MS = 1_000
/** A session that holds a row or a subject's intake for longer is stuck itself. */
const LOCK_TIMEOUT_MS = 5_000
/**
 * We close unused connections much sooner. One idle this long belongs to a client that vanished, and would
 * count towards max_connections for two hours.
 */
const IDLE_SESSION_TIMEOUT_MS = 30_000
/** A process that froze inside a transaction must not hold a subject's intake against the others. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000

export type PoolOptions = {
  max: number
  name: string
  statementMs?: number
  /** How long an unused connection is kept. */
  idleMs?: number
  /** No parallel workers, for statements that may not slow down others. */
  isSerial?: boolean
  keepsPlans?: boolean
  /** For statements that find all of their rows by index: a plan made while a table was small would go on reading all of it. */
  avoidsScans?: boolean
}

export function poolConfig(url: string, options: PoolOptions) {
  const { max, name, statementMs = STATEMENT_TIMEOUT_MS } = options
  return {
    Client,
    connectionString: url,
    max,
    application_name: name,
    connectionTimeoutMillis: Math.max(statementMs, CONNECT_TIMEOUT_MS),
    idleTimeoutMillis: options.idleMs ?? idleMs(statementMs),
    keepAlive: true,
    stream: () => new ImpatientSocket(statementMs === 0 ? 0 : statementMs + SILENCE_MS),
    async onConnect(client: pg.ClientBase) {
      await setLimits(client, statementMs)
      if (options.keepsPlans) keepPlans(client)
      if (options.avoidsScans) await client.query('set enable_seqscan = off')
      if (options.isSerial) await client.query('set max_parallel_workers_per_gather = 0')
      if (statementMs > STATEMENT_TIMEOUT_MS) await closeOnceDead(client, url)
    },
  } satisfies pg.PoolConfig
}

function idleMs(statementMs: number): number {
  if (statementMs === 0) return IDLE_MS
  if (statementMs > IDLE_MS) return IDLE_WITH_LONG_STATEMENTS_MS
  // Otherwise the silence of an unused connection would be reported as an error.
  return Math.min(IDLE_MS, statementMs)
}

/**
 * `synchronous_commit` is on whatever the database says, because what we acknowledge must be on disk. Not
 * startup parameters, because PgBouncer refuses those.
 */
async function setLimits(client: pg.ClientBase, statementMs: number): Promise<void> {
  const limits = {
    statement_timeout: statementMs,
    // A migration waits as long as the tables that it changes are in use.
    lock_timeout: statementMs === 0 ? 0 : LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    idle_session_timeout: IDLE_SESSION_TIMEOUT_MS,
  }
  const own = Object.entries(limits)
  // Plain SET costs a tenth of a statement that PostgreSQL has to plan, and every connection pays for it.
  await client.query(
    [
      ...own.map(([name, ms]) => `set ${name} = ${ms}`),
      // Where scans are avoided, PostgreSQL before 18 takes a short statement for a costly one and compiles it, in each
      // session and for each row that a trigger sees: that takes a hundred times as long as the statement.
      'set jit = off',
      `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') <> 'remote_apply'`,
    ].join('; '),
  )
  const { rows } = await client.query<{ name: string; value: string }>(
    `select name, value from (values
       ${own.map(([name, ms]) => `('${name}', current_setting('${name}'), current_setting('${name}')::interval = interval '${ms} ms')`).join(',\n       ')},
       ('synchronous_commit', current_setting('synchronous_commit'), current_setting('synchronous_commit') in ('on', 'remote_apply'))
     ) as setting (name, value, is_kept)
     where not is_kept`,
  )
  if (rows.length === 0) return
  const left = rows.map(({ name, value }) => `${name} is still ${value}`).join(', ')
  throw new Error(
    `PostgreSQL does not keep a session's settings (${left}): connect directly, or through a pooler in session mode`,
  )
}
