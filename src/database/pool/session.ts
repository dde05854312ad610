import type pg from 'pg'

/** A session that holds a row or a subject's intake for longer is stuck itself. */
const LOCK_TIMEOUT_MS = 5_000
/**
 * We close unused connections much sooner. A session idle this long belongs to a client that vanished, and would
 * count towards max_connections for two hours.
 */
const IDLE_SESSION_TIMEOUT_MS = 30_000
/** A process that froze inside a transaction must not hold a subject's intake against the others. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000

/** A database or a role may have other values: then times would be read as null, and texts as other ones. */
const WHAT_OUR_READING_NEEDS = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  client_encoding: 'UTF8',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  extra_float_digits: '1',
  default_transaction_isolation: 'read committed',
}

/**
 * Sets up a session. `synchronous_commit` is on whatever the database says, because what we acknowledge must be on
 * disk. These are not startup parameters, because PgBouncer refuses those. PostgreSQL before 17 has no transaction_timeout;
 * asking pg_settings for it takes a quarter of the whole connecting.
 */
export async function setUpSession(client: pg.ClientBase, statementMs: number): Promise<void> {
  // A migration waits for another one to end, and keeps its lock while another session creates queues. Each of its files
  // sets a limit of its own for the tables that are in use.
  const unlessMigrating = (ms: number) => (statementMs === 0 ? 0 : ms)
  const limits = {
    statement_timeout: statementMs,
    lock_timeout: unlessMigrating(LOCK_TIMEOUT_MS),
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    idle_session_timeout: unlessMigrating(IDLE_SESSION_TIMEOUT_MS),
  }
  const own = Object.entries(limits)
  const needed = Object.entries(WHAT_OUR_READING_NEEDS)
  // A plain SET costs a tenth of a statement that PostgreSQL has to plan, and every connection pays for it.
  const answers: unknown = await client.query(
    [
      `select current_setting('loanops.session', true) as mark`,
      `set loanops.session = 'in use'`,
      ...own.map(([name, ms]) => `set ${name} = ${ms}`),
      ...needed.map(([name, value]) => `set ${name} = '${value}'`),
      // Where scans are avoided, PostgreSQL before 18 takes a short statement for a costly one and compiles it, in each
      // session and for each row that a trigger sees: that takes a hundred times as long as the statement.
      'set jit = off',
      `select set_config('transaction_timeout', '0', false) where current_setting('transaction_timeout', true) <> '0'`,
      `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') <> 'remote_apply'`,
    ].join('; '),
  )
  const [marked] = answers as [pg.QueryResult<{ mark: string | null }>]
  // A new session has no mark, and one that was reset has an empty one.
  if (marked.rows[0]?.mark)
    throw new Error(
      'A pooler gives one session of PostgreSQL to several of our connections: connect directly, or through a pooler in session mode with server_reset_query = DISCARD ALL',
    )
  const { rows } = await client.query<Kept>(
    `select getdatabaseencoding() as encoding, array(select name || ' is still ' || value from (values
       ${own.map(([name, ms]) => `('${name}', current_setting('${name}'), current_setting('${name}')::interval = interval '${ms} ms')`).join(',\n       ')},
       ${needed.map(([name, value]) => `('${name}', current_setting('${name}'), current_setting('${name}') = '${value}')`).join(',\n       ')},
       ('synchronous_commit', current_setting('synchronous_commit'), current_setting('synchronous_commit') in ('on', 'remote_apply'))
     ) as setting (name, value, is_kept)
     where not is_kept) as "left"`,
  )
  const { encoding, left } = rows[0] as Kept
  if (left.length > 0)
    throw new Error(
      `PostgreSQL does not keep a session's settings (${left.join(', ')}): connect directly, or through a pooler in session mode`,
    )
  if (encoding !== 'UTF8')
    throw new Error(
      `The database’s encoding is ${encoding}: LoanOps needs one that was created with the encoding UTF8`,
    )
}

type Kept = { encoding: string; left: string[] }
