import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Row } from '../../database/row.ts'
import type { Readiness } from '../../ops/health.ts'
import { MAX_COUNTED } from '../lists/count.ts'
import type { PageContext } from '../page-context.ts'
import { type History, loadHistory } from './history.ts'
import { lastRuns, type Runs } from './last-runs.ts'

/** Counting more takes too long; beyond this, the sizes of the groups are lower bounds. */
const MAX_UNFINISHED = 5_000

export type Group = { name: string | null; count: number }
type Pause = Row<'loanops.ledger_pause', 'reason' | 'since' | 'until'>
export type State = {
  readiness: Readiness
  pause: Pause | null
  backlog: Group[] | null
  suspense: Group[] | null
  objections: Group[] | null
  callbacks: Group[] | null
  receiver: string | null
  behind: Group[] | null
  runs: Runs | null
  history: History | null
}

export async function loadState({
  db,
  health,
  config,
}: Pick<PageContext, 'db' | 'health' | 'config'>): Promise<State> {
  const [readiness, [pause = null], ...parts] = await Promise.all([
    health(),
    pauseUnderWay(db),
    backlog(db).catch(() => null),
    suspense(db).catch(() => null),
    objections(db).catch(() => null),
    callbacks(db).catch(() => null),
    receiver(db).catch(() => null),
    behind(db).catch(() => null),
    lastRuns(db).catch(() => null),
    loadHistory(db, config.LEDGER_TIMEZONE).catch(() => null),
  ])
  const [waiting, suspended, objected, callback, receiving, sources, runs, history] = parts
  return {
    readiness,
    pause,
    backlog: waiting,
    suspense: suspended,
    objections: objected,
    callbacks: callback,
    receiver: receiving,
    behind: sources,
    runs,
    history,
  }
}

/** A failure of this query is not caught: without the database there is no page. */
async function pauseUnderWay(db: Database): Promise<Pause[]> {
  const { rows } = await sql<Pause>`select reason, since, until from ops.ledger_pause`.execute(db)
  return rows
}

async function backlog(db: Database): Promise<Group[]> {
  const { rows } = await sql<Group>`
    select waiting_for as name, count(*)::integer as count
      from (select id from loanops.operation where status = 'processing' limit ${MAX_UNFINISHED}) unfinished
      join loanops.operation_state using (id)
     group by waiting_for order by waiting_for nulls first`.execute(db)
  return rows
}

async function suspense(db: Database): Promise<Group[]> {
  const { rows } = await sql<Group>`
    select reason as name, count(*)::integer as count from core.transaction
     where state = 'suspense' group by reason order by 2 desc, 1`.execute(db)
  return rows
}

async function objections(db: Database): Promise<Group[]> {
  const { rows } = await sql<Group>`
    select objection as name, count(*)::integer as count from core.transaction
     where objection is not null group by objection order by 2 desc, 1`.execute(db)
  return rows
}

async function callbacks(db: Database): Promise<Group[]> {
  const some = (state: string) => sql`
    select ${sql.lit(state)} as name, count(*)::integer as count
      from (select from loanops.callback where state = ${sql.lit(state)} limit ${MAX_COUNTED + 1}) c`
  const { rows } = await sql<Group>`${some('pending')} union all ${some('failed')}`.execute(db)
  return rows
}

async function receiver(db: Database): Promise<string | null> {
  const { rows } = await sql<{ state: string }>`
    select loanops.receiver_state(r) as state from loanops.callback_receiver r where types <> '{}'`.execute(
    db,
  )
  return rows[0]?.state ?? null
}

async function behind(db: Database): Promise<Group[]> {
  const { rows } = await sql<Group>`
    select source as name, count(*)::integer as count
      from (select source from core.pending_event limit ${MAX_UNFINISHED}) pending
     group by source order by 2 desc, 1`.execute(db)
  return rows
}
