import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Client } from '../transient.ts'
import type { ClientInternals } from './read-only.ts'

/** The time that a connection with short statements may be silent. */
const ASK_AFTER_MS = 5_000
const LOOKS_UNTIL_THEN = 5
const ANSWERS_WITHIN_MS = 3_000
/** An answer may be on its way while the server says that it has answered. */
const ON_ITS_WAY_MS = 500

/** After a failover, another server's session may have the same process id. */
type Session = { pid: number; startedAt: string }

const sessions = new WeakMap<pg.ClientBase, Session>()

/** One session at a time is enough for all connections of this process. */
let lastAsked: Promise<unknown> = Promise.resolve()

/**
 * Closes a connection once the server does not work on its statement. Silence alone says nothing while statements may
 * take long, so another session asks the server.
 */
export async function closeOnceDead(client: pg.ClientBase, url: string, askAfterMs = ASK_AFTER_MS) {
  const session = client as unknown as ClientInternals
  const { stream } = session.connection
  const { rows } = await client.query<Session>(
    `select pid, backend_start::text as "startedAt" from pg_stat_get_activity(pg_backend_pid())`,
  )
  sessions.set(client, rows[0] as Session)
  let heard = { bytes: stream.bytesRead, at: performance.now() }
  let isAsking = false
  const timer = setInterval(() => void look(), askAfterMs / LOOKS_UNTIL_THEN)
  timer.unref()
  stream.once('close', () => clearInterval(timer))

  async function look(): Promise<void> {
    if (isAsking || !isSilent()) return
    isAsking = true
    const asked = lastAsked.then(() => isWorking(url, rows[0] as Session))
    lastAsked = asked.catch(() => undefined)
    // While the server cannot be asked, nobody knows whether the connection is lost.
    const isLost = await asked.then(
      is => !is,
      () => false,
    )
    if (isLost) await sleep(ON_ITS_WAY_MS)
    if (isLost && isSilent())
      stream.destroy(new Error('Connection terminated: a statement or its answer was lost'))
    isAsking = false
  }

  function isSilent(): boolean {
    if (stream.bytesRead !== heard.bytes || session.readyForQuery)
      heard = { bytes: stream.bytesRead, at: performance.now() }
    return performance.now() - heard.at > askAfterMs
  }
}

/** The sessions of the clients that `closeOnceDead` watches. */
export function sessionsOf(clients: Iterable<pg.ClientBase>): Session[] {
  return [...clients].flatMap(client => sessions.get(client) ?? [])
}

/**
 * A session that cannot send its answer is not working either. One whose state is untracked, or hidden from the role that
 * the login takes, may be working.
 */
async function isWorking(url: string, { pid, startedAt }: Session): Promise<boolean> {
  const client = new Client({
    connectionString: url,
    application_name: 'loanops-is-working',
    connectionTimeoutMillis: ANSWERS_WITHIN_MS,
    query_timeout: ANSWERS_WITHIN_MS,
  })
  try {
    await client.connect()
    const { rows } = await client.query(
      `select from pg_stat_activity
        where pid = $1 and (coalesce(state, 'disabled') = 'disabled' or backend_start = $2::timestamptz
          and state = 'active' and wait_event is distinct from 'ClientWrite')`,
      [pid, startedAt],
    )
    return rows.length === 1
  } finally {
    // An orderly end would wait for a server that may be gone.
    const { stream } = (client as unknown as ClientInternals).connection
    stream.destroy()
  }
}
