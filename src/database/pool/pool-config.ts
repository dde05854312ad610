import type pg from 'pg'
import { Client } from '../transient.ts'
import { closeOnceDead } from './dead-connection.ts'
import { ImpatientSocket } from './impatient-socket.ts'
import { keepPlans } from './prepared.ts'
import { type ClientInternals, giveUpIfReadOnly, type PooledSession } from './read-only.ts'
import { setUpSession } from './session.ts'

/** For connecting and again for setting up the session, however long statements may take: a path that is silent may be dead. */
const CONNECT_TIMEOUT_MS = 5_000
/** Anything that a caller, a lease or an operation waits for takes milliseconds: after this long it is stuck. */
const STATEMENT_TIMEOUT_MS = 4_000
/** Work on many rows that nobody is waiting for may take this long: batches, runs of a migration, the purge. */
export const LONG_STATEMENT_MS = 60_000
/** A live server cancels a statement itself when its time is up. One that stays silent this much longer is gone. */
const SILENCE_MS = 1_000
/** Unused connections are closed sooner than a dead one is found, so that the next try gets a new one. */
const IDLE_MS = 4_000
/**
 * A dead connection is found late where statements may be long, so idle ones are closed sooner. This is still longer than a
 * loop rests: connecting for each look took longer than the look.
 */
const IDLE_WITH_LONG_STATEMENTS_MS = 3_000
export type PoolOptions = {
  max: number
  name: string
  statementMs?: number
  /** How long an unused connection is kept. */
  idleMs?: number
  /** Allows no parallel workers, for statements that may not slow down others. */
  isSerial?: boolean
  /** A pattern also names unmarked statements whose plans are kept. */
  keepsPlans?: boolean | RegExp
  onNotice?: (message: string) => void
  /**
   * Keeps statements that find all of their rows by index from scans: a plan made while a table was small would go on
   * reading all of it.
   */
  avoidsScans?: boolean
}

export function poolConfig(url: string, options: PoolOptions) {
  const { max, name, statementMs = STATEMENT_TIMEOUT_MS } = options
  const sessions = new Set<PooledSession>()
  return {
    Client: PooledClient,
    connectionString: url,
    max,
    application_name: name,
    // How long a caller waits for a free connection.
    connectionTimeoutMillis: Math.max(statementMs, CONNECT_TIMEOUT_MS),
    idleTimeoutMillis: options.idleMs ?? idleMs(statementMs),
    keepAlive: true,
    stream: () => new ImpatientSocket(statementMs === 0 ? 0 : statementMs + SILENCE_MS),
    onConnect: (client: pg.ClientBase) => inTime(client, setUp),
  } satisfies pg.PoolConfig

  async function setUp(client: pg.ClientBase): Promise<void> {
    await setUpSession(client, statementMs)
    giveUpIfReadOnly(client, sessions)
    const { onNotice } = options
    if (onNotice) client.on('notice', ({ message = '' }) => onNotice(message))
    const { keepsPlans } = options
    if (keepsPlans) keepPlans(client, keepsPlans === true ? undefined : keepsPlans)
    if (options.avoidsScans) await client.query('set enable_seqscan = off')
    if (options.isSerial) await client.query('set max_parallel_workers_per_gather = 0')
    if (statementMs > STATEMENT_TIMEOUT_MS) await closeOnceDead(client, url)
  }
}

/** The pool would give its connections as long to connect as its callers wait for one. */
class PooledClient extends Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  }
}

async function inTime(
  client: pg.ClientBase,
  setUp: (client: pg.ClientBase) => Promise<void>,
): Promise<void> {
  const { stream } = (client as unknown as ClientInternals).connection
  const lost = new Error('Connection terminated: PostgreSQL was silent while a session was set up')
  const timer = setTimeout(() => stream.destroy(lost), CONNECT_TIMEOUT_MS)
  await setUp(client).finally(() => clearTimeout(timer))
}

function idleMs(statementMs: number): number {
  if (statementMs === 0) return IDLE_MS
  if (statementMs > IDLE_MS) return IDLE_WITH_LONG_STATEMENTS_MS
  // The socket would report the silence of a connection that stays unused for longer as an error.
  return Math.min(IDLE_MS, statementMs)
}
