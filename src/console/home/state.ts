import { type RawBuilder, sql } from 'kysely'
import type { Database, Row } from '../../database/database.ts'
import { MAX_COUNTED } from '../lists/count.ts'
import type { PageContext } from '../page-context.ts'
import { readHistory } from './history.ts'
import { lastRuns } from './last-runs.ts'

/** Counting more takes too long; beyond this, the sizes of the groups are lower bounds. */
const MAX_UNFINISHED = 5_000

export type Group = { name: string | null; count: number }
type Pause = Row<'loanops.ledger_pause', 'reason' | 'since' | 'until'>
export type State = Awaited<ReturnType<typeof readState>>

export async function readState({
  db,
  health,
  config,
}: Pick<PageContext, 'db' | 'health' | 'config'>) {
  const groups = (query: RawBuilder<Group>) => ifRead(query.execute(db).then(({ rows }) => rows))
  return allOf({
    readiness: health(),
    pause: pauseUnderWay(db),
    backlog: groups(BACKLOG),
    suspense: groups(SUSPENSE),
    objections: groups(OBJECTIONS),
    callbacks: groups(CALLBACKS),
    receiver: ifRead(receiverState(db)),
    behind: groups(BEHIND),
    runs: ifRead(lastRuns(db)),
    history: ifRead(readHistory(db, config.LEDGER_TIMEZONE)),
  })
}

async function allOf<T>(parts: { [Name in keyof T]: Promise<T[Name]> }): Promise<T> {
  const named = Object.entries<Promise<unknown>>(parts).map(async ([name, part]) => [
    name,
    await part,
  ])
  return Object.fromEntries(await Promise.all(named)) as T
}

const ifRead = <T>(part: Promise<T>): Promise<T | null> => part.catch(() => null)

/** A failure of this query is not caught: without the database there is no page. */
async function pauseUnderWay(db: Database): Promise<Pause | null> {
  const { rows } = await sql<Pause>`select reason, since, until from ops.ledger_pause`.execute(db)
  return rows[0] ?? null
}

const BACKLOG = sql<Group>`
  select waiting_for as name, count(*)::integer as count
    from (select id from loanops.operation where status = 'processing' limit ${MAX_UNFINISHED}) unfinished
    join loanops.operation_state using (id)
   group by waiting_for order by waiting_for nulls first`

const SUSPENSE = sql<Group>`
  select reason as name, count(*)::integer as count from core.transaction
   where state = 'suspense' group by reason order by 2 desc, 1`

const OBJECTIONS = sql<Group>`
  select objection as name, count(*)::integer as count from core.transaction
   where objection is not null group by objection order by 2 desc, 1`

const some = (state: string) => sql<Group>`
  select ${sql.lit(state)} as name, count(*)::integer as count
    from (select from loanops.callback where state = ${sql.lit(state)} limit ${MAX_COUNTED + 1}) c`
const CALLBACKS = sql<Group>`${some('pending')} union all ${some('failed')}`

async function receiverState(db: Database): Promise<string | null> {
  const { rows } = await sql<{ state: string }>`
    select loanops.receiver_state(r) as state from loanops.callback_receiver r
     where types <> '{}'`.execute(db)
  return rows[0]?.state ?? null
}

const BEHIND = sql<Group>`
  select source as name, count(*)::integer as count
    from (select source from core.pending_event limit ${MAX_UNFINISHED}) pending
   group by source order by 2 desc, 1`
