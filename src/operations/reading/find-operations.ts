import type { Static } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { trackingId } from '../../engine/operation.ts'
import { ORIGINS } from '../../engine/origin.ts'
import { asJson } from '../../http/as-json.ts'
import { decodeCursor, pageOf } from '../../http/lists/cursor.ts'
import { RATE_PERIOD } from '../terms/rate-period.ts'
import { UnknownTrackingId } from '../tracking-id.ts'
import {
  matchingOperations,
  type OperationFilter,
  orderOf,
  wantsFailed,
  wantsFailedOfType,
  wantsUnfinished,
} from './operation-filter.ts'
import {
  type OperationItem,
  type OperationRow,
  type OperationWithAttempts,
  wholeRecord,
} from './operation-record.ts'

const recordColumns = sql`o.id, o.operation_type as "operationType", o.status, o.response,
  o.error_message as "errorMessage", o.processed_at as "processedAt"`

export async function findOperation(
  db: Database,
  { operationType, id }: { operationType: string; id: string },
): Promise<OperationRow | undefined> {
  const { rows } = await sql<OperationRow>`
    select ${recordColumns} from loanops.operation o
     where o.id = ${id} and o.operation_type = ${operationType}`.execute(db)
  return rows[0]
}

type ListQuery = OperationFilter & { limit: number; cursor?: string }

export async function listOperations(db: Database, { limit, cursor, ...filter }: ListQuery) {
  const [before] = decodeCursor(cursor, ['bigint'])
  type Row = OperationRow & { seq: string } & ListColumns
  const newestOf = (part: OperationFilter) => sql`
    (select * from loanops.operation o
      where ${matchingOperations(part)} and ${before === undefined ? sql`true` : sql`o.seq < ${before}`}
      order by ${orderOf(part)} desc limit ${limit + 1})`
  const { rows } = await sql<Row>`
    select o.seq, ${recordColumns}, ${listColumns}
      from (select * from (${sql.join(partsOf(filter).map(newestOf), sql` union all `)}) newest
             order by seq desc limit ${limit + 1}) o
      join loanops.operation_state v on v.id = o.id
     order by o.seq desc`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [row.seq])
  return { page: page.map(({ seq: _, ...row }) => listItem(row)), next_cursor }
}

/** The matches, at most `limit` per part, for counting. */
export function someMatching(filter: OperationFilter, limit: number): RawBuilder<unknown> {
  const some = partsOf(filter).map(
    part =>
      sql`(select from loanops.operation o where ${matchingOperations(part)}
            ${wantsFailedOfType(part) ? sql`order by ${orderOf(part)} desc` : sql``} limit ${limit})`,
  )
  return sql`select from (${sql.join(some, sql` union all `)}) parts`
}

/** A filter is queried once per origin, because each origin's own indexes have the order. */
function partsOf(filter: OperationFilter): OperationFilter[] {
  const { origin, external_id } = filter
  const isIndexed = external_id !== undefined || wantsUnfinished(filter) || wantsFailed(filter)
  if (origin !== undefined || isIndexed) return [filter]
  return ORIGINS.map(origin => ({ ...filter, origin }))
}

export async function operationWithAttempts(db: Database, tracked: Tracked) {
  type Row = OperationRow &
    ListColumns &
    Pick<Whole, 'data' | 'origin' | 'predecessor'> & { kept: object }
  const { rows } = await sql<Row>`
    select ${recordColumns}, ${listColumns}, o.data, o.origin, json_strip_nulls(json_build_object(
             ${RATE_PERIOD}::text, o.kept ->> ${RATE_PERIOD}::text)) as kept,
           case when o.status = 'processing' then
             coalesce(${lastUnfinished(sql`o.subject`)}, ${lastUnfinished(sql`o.waits_for`)}) end as predecessor
      from loanops.operation o
      join loanops.operation_state v on v.id = o.id
     where o.id = ${tracked.id} and o.operation_type = ${tracked.operationType}`.execute(db)
  if (rows[0] === undefined) throw new UnknownTrackingId()
  const { data, kept, ...row } = rows[0]
  return {
    ...listItem(row),
    data: { ...data, ...kept },
    origin: row.origin,
    predecessor: row.predecessor,
    attempts: await attemptsOf(db, tracked),
  }
}

/** Merges consecutive attempts that ended alike. A row may already stand for several, of one key where that matters. */
async function attemptsOf(db: Database, tracked: Tracked) {
  const { rows } = await sql<object>`
    with attempt as (
      select a.*, (method, path, http_status, outcome) is distinct from
                  (lag(method) over w, lag(path) over w, lag(http_status) over w, lag(outcome) over w) as is_other
        from ops.operation_attempt a
       where tracking_id = ${trackingId(tracked)}
      window w as (order by attempt)
    ), numbered as (
      select *, count(*) filter (where is_other) over (order by attempt) as series from attempt
    )
    select min(attempt) as attempt, sum(times)::integer as times, min(started_at) as started_at,
           max(ended_at) as ended_at, method, path, http_status, outcome
      from numbered
     group by series, method, path, http_status, outcome
     order by 1`.execute(db)
  return rows.map(asJson<Whole['attempts'][number]>)
}

type Whole = Static<typeof OperationWithAttempts>
type Tracked = { operationType: string; id: string }

function lastUnfinished(subject: RawBuilder<unknown>) {
  return sql`(select loanops.tracking_id(earlier) from loanops.operation earlier
               where earlier.subject = ${subject} and earlier.status = 'processing' and earlier.seq < o.seq
               order by earlier.seq desc limit 1)`
}

const listColumns = sql`v.external_id, v.accepted_at, v.attempts, v.waiting_for, v.next_try_at, v.last_error,
  v.error_code, v.actor, v.caller, host(v.address) as address, v.request_id, o.ignored`

type ListColumns = Omit<Static<typeof OperationItem>, keyof ReturnType<typeof wholeRecord>>

function listItem(row: OperationRow & ListColumns) {
  const { id, operationType, status, response, errorMessage, processedAt, ...columns } = row
  return { ...wholeRecord(row), ...asJson<ListColumns>(columns) }
}
