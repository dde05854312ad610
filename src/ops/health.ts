import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Watch } from '../database/watch.ts'
import { within } from '../database/within.ts'

export type Readiness = {
  status: 'ready' | 'not_ready'
  database: 'ok' | 'cannot be reached' | 'is read-only' | 'is behind: run migrate'
  queue: 'ok' | 'cannot be reached'
  /** Tasks that this process has been retrying for too long. */
  stuck: string[]
  /**
   * Why operations wait for the ledger, whichever process noticed, or `not_known`; for a worker also the state of its
   * circuit breaker. `pause` says in words whether an operator has paused writes there; null if not.
   */
  ledger: { waiting_for: string[]; pause: string | null }
  /** Null while no callbacks are sent, or the database does not answer. */
  callbacks: { failed: number; receiver: 'up' | 'down' | 'stopped' } | null
}
export type Health = () => Promise<Readiness>

/** A readiness probe must answer before its caller gives up. */
const PATIENCE_MS = 2_000
/** Of failed callbacks; more would take longer to count. */
const MOST_COUNTED = 1_000

/**
 * Ready while database, migrations and queue are fine and nothing is stuck. Problems with the ledger are reported, but do
 * not stop intake.
 * @param isMigrated whether this version's tables exist
 */
export function health(
  db: Database,
  isMigrated: (db: Database) => Promise<boolean>,
  ledgerState: () => object | undefined,
  watch: Watch,
): Health {
  return async () => {
    const [database, queue, waitingFor, pause, callbacks] = await Promise.all([
      inTime(stateOf(db, isMigrated)).catch(() => 'cannot be reached' as const),
      inTime(stateOfQueue(db)).catch(() => 'cannot be reached' as const),
      // No answer must not look like no trouble.
      inTime(ledgerProblems(db)).catch(() => ['not_known']),
      inTime(pauseInWords(db)).catch(() => 'not_known'),
      inTime(callbackProblems(db)).catch(() => null),
    ])
    const ledger = { ...ledgerState(), waiting_for: waitingFor, pause }
    const stuck = watch.stuck()
    const isReady = database === 'ok' && queue === 'ok' && stuck.length === 0
    return { status: isReady ? 'ready' : 'not_ready', database, queue, stuck, ledger, callbacks }
  }
}

function inTime<T>(answer: Promise<T>): Promise<T> {
  return within(PATIENCE_MS, answer, 'the database does not answer in time')
}

async function stateOfQueue(db: Database): Promise<'ok'> {
  await sql`select from pgboss.queue limit 1`.execute(db)
  return 'ok'
}

async function stateOf(
  db: Database,
  isMigrated: (db: Database) => Promise<boolean>,
): Promise<Readiness['database']> {
  const { rows } = await sql<{ isReadOnly: boolean }>`
    select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly"`.execute(
    db,
  )
  if (rows[0]?.isReadOnly) return 'is read-only'
  return (await isMigrated(db)) ? 'ok' : 'is behind: run migrate'
}

async function ledgerProblems(db: Database): Promise<string[]> {
  const { rows } = await sql<{ reason: string }>`
    select reason
      from unnest(array['ledger_unavailable', 'ledger_busy', 'ledger_credentials', 'ledger_approval',
                         'outcome_unknown']) reason
     where exists (select from loanops.operation where status = 'processing' and waiting_for = reason)
    union all
    select 'paused'
     where exists (select from ops.ledger_pause) and exists (select from loanops.operation where status = 'processing')`.execute(
    db,
  )
  return rows.map(({ reason }) => reason)
}

/** Without the operator's reason, because anybody may ask. */
async function pauseInWords(db: Database): Promise<string | null> {
  const { rows } = await sql<{ since: Date; until: Date | null }>`
    select since, until from ops.ledger_pause`.execute(db)
  const [pause] = rows
  if (pause === undefined) return null
  const end = pause.until === null ? 'until it is resumed' : `until ${pause.until.toISOString()}`
  return `writes have been paused since ${pause.since.toISOString()}, ${end}`
}

async function callbackProblems(db: Database): Promise<Readiness['callbacks']> {
  const { rows } = await sql<NonNullable<Readiness['callbacks']>>`
    select (select count(*)::integer from (
             select from loanops.callback where state = 'failed' limit ${MOST_COUNTED}) f) as failed,
           loanops.receiver_state(r) as receiver
      from loanops.callback_receiver r where types <> '{}'`.execute(db)
  return rows[0] ?? null
}
