import type { Static, TObject } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { equalTo } from '../database/equal-to.ts'
import { asJson } from '../http/as-json.ts'
import { decodeCursor, pageOf } from '../http/lists/cursor.ts'
import { rowById } from '../http/lists/row-by-id.ts'
import { invalidField } from '../http/problem.ts'
import type { CallbackItem, CallbackWithAttempts, callbackFilters } from './callback-record.ts'

export type CallbackFilter = Static<TObject<typeof callbackFilters>>

const columns = sql`callback_id, type, subject, state, attempts, next_try_at, last_status, last_error, created_at,
  delivered_at`

/** @throws FieldErrors */
export function matchingCallbacks(
  filter: CallbackFilter,
  part: 'INVALID_QUERY' | 'INVALID_PAYLOAD' = 'INVALID_QUERY',
): RawBuilder<unknown> {
  const { from, to } = filter
  if (from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to))
    throw invalidField('/from', 'must not be after to', part)
  const where = [equalTo({ subject: filter.subject })]
  if (filter.state !== undefined) where.push(inState(filter.state))
  if (filter.type !== undefined) where.push(sql`type = ${sql.lit(filter.type)}`)
  if (from !== undefined) where.push(sql`created_at >= ${from}::timestamptz`)
  // Callers see times in milliseconds.
  if (to !== undefined) where.push(sql`created_at < ${to}::timestamptz + interval '1 millisecond'`)
  return sql.join(where, sql` and `)
}

/** Few callbacks are pending, whatever statistics say: they are found by an index of their own, which has this condition. */
const inState = (state: string) =>
  state === 'pending' ? sql`state || '' = 'pending'` : sql`state = ${sql.lit(state)}`

/** Callbacks, newest first; for a period, and pending ones, by time of creation, so only these are read. */
export async function listCallbacks(
  db: Database,
  { limit, cursor, ...filter }: CallbackFilter & { limit: number; cursor?: string },
) {
  const isByTime =
    filter.from !== undefined || filter.to !== undefined || filter.state === 'pending'
  const [last] = decodeCursor(cursor, ['bigint'])
  const before = isByTime
    ? sql`(created_at, seq) < ((select created_at from ops.callback where seq = ${last}), ${last}::bigint)`
    : sql`seq < ${last}`
  const { rows } = await sql<{ seq: string }>`
    select seq, ${columns} from ops.callback
     where ${matchingCallbacks(filter)} and ${last === undefined ? sql`true` : before}
     order by ${isByTime ? sql`created_at desc, seq desc` : sql`seq desc`}
     limit ${limit + 1}`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [row.seq])
  return { page: page.map(asJson<Static<typeof CallbackItem>>), next_cursor }
}

/** While its receiver is down, a callback may be probed every ten seconds for three days. */
const MAX_ATTEMPTS = 100

export async function findCallback(db: Database, id: string) {
  const one = sql<{ body: object | null }>`
    select ${columns}, (select body::json from loanops.callback where id = callback_id) as body
      from ops.callback where callback_id = ${id}`
  const callback = await rowById(db, id, `No callback ${id}`, one)
  const { rows: attempts } = await sql<object>`
    select attempt, started_at, ended_at, http_status, error, answer
      from (select * from loanops.callback_attempt where callback_id = ${id}
             order by attempt desc limit ${MAX_ATTEMPTS}) last
     order by attempt`.execute(db)
  return asJson<Static<typeof CallbackWithAttempts>>({
    ...callback,
    attempts: attempts.map(asJson<Static<typeof CallbackWithAttempts>['attempts'][number]>),
  })
}
