import { sql } from 'kysely'
import { version } from '../config/version.ts'
import { type Database, giveUpSessions } from '../database/database.ts'
import type { Watch } from '../database/watch.ts'
import { within } from '../database/within.ts'
import { oneAtATime } from '../queue/one-at-a-time.ts'

type Readiness = {
  status: 'ready' | 'not_ready'
  version: string
  database: 'ok' | 'cannot be reached' | 'is read-only' | 'is behind: run migrate'
  queue: 'ok' | 'cannot be reached'
  stuck: string[]
  ledger: LedgerReport
  [part: string]: unknown
}
export type LedgerReport = {
  /** Why operations wait for the ledger, whichever process noticed, or `not_known`. */
  waiting_for: string[]
  pause: string | null
  /** That something in front of the ledger refuses writes, or `not_known`. */
  in_front: string | null
  /** The findings of the last check of the ledger's set-up that are not `ok`; or `not_known`. */
  findings: { check: string; lender: string | null; state: string }[] | 'not_known'
}
export type Health = () => Promise<Readiness>

export type Ask = <T>(question: (db: Database) => Promise<T>, otherwise: T) => Promise<T>
type Report = (ask: Ask) => Promise<Record<string, unknown>>

/** A readiness probe must answer before its caller gives up. */
const PATIENCE_MS = 2_000

type OwnChecks = { isMigrated(db: Database): Promise<boolean>; watch: Watch }
type Checks = OwnChecks & { ledger(ask: Ask): Promise<LedgerReport>; reports: Report[] }

/** Problems with the ledger are reported, but do not stop intake. */
export function health(db: Database, checks: Checks): Health {
  const ask = openAsk(db)
  // Anybody may ask, and each answer takes several connections of those that intake uses.
  return oneAtATime(answer)

  async function answer(): Promise<Readiness> {
    const [own, ledger, ...reported] = await Promise.all([
      ownState(ask, checks),
      checks.ledger(ask),
      ...checks.reports.map(report => report(ask)),
    ])
    return { ...own, ledger, ...Object.assign({}, ...reported) }
  }
}

/** Asks for nothing else that readyz shows: the rest takes several more connections. */
export async function isReady(db: Database, checks: OwnChecks): Promise<boolean> {
  const { status } = await ownState(openAsk(db), checks)
  return status === 'ready'
}

const openAsk =
  (db: Database): Ask =>
  (question, otherwise) =>
    within(PATIENCE_MS, question(db), 'the database does not answer in time').catch(() => otherwise)

async function ownState(
  ask: Ask,
  { isMigrated, watch }: OwnChecks,
): Promise<Omit<Readiness, 'ledger'>> {
  const [database, queue] = await Promise.all([
    ask<Readiness['database']>(db => stateOf(db, isMigrated), 'cannot be reached'),
    ask<Readiness['queue']>(stateOfQueue, 'cannot be reached'),
  ])
  const stuck = watch.stuck()
  const isReady = database === 'ok' && queue === 'ok' && stuck.length === 0
  return { status: isReady ? 'ready' : 'not_ready', version, database, queue, stuck }
}

async function stateOfQueue(db: Database): Promise<Readiness['queue']> {
  await sql`select from pgboss.queue limit 1`.execute(db)
  return 'ok'
}

async function stateOf(
  db: Database,
  isMigrated: OwnChecks['isMigrated'],
): Promise<Readiness['database']> {
  const { rows } = await sql<{ isReadOnly: boolean }>`
    select pg_is_in_recovery()
           or current_setting('transaction_read_only') = 'on' as "isReadOnly"`.execute(db)
  if (rows[0]?.isReadOnly) {
    // Nobody sends us writes now, and nothing else would show that the server is no longer the primary.
    giveUpSessions(db)
    return 'is read-only'
  }
  return (await isMigrated(db)) ? 'ok' : 'is behind: run migrate'
}
