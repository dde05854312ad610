import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { asJson } from '../../http/as-json.ts'
import { decodeCursor, type FoundPage, hex, pageOf } from '../../http/lists/cursor.ts'
import type { Settlement } from './settlement-record.ts'

export const SETTLEMENTS_SORTED_BY = ['bigint', 'text', 'name', 'text'] as const

/** `days`: those of the settlement, both included; null for any. */
type Query = {
  days: { from: string; to: string } | null
  utr?: string
  limit: number
  cursor?: string
}
/** Summing up this many parts takes half a second; a page has all of its last settlement, however many that has. */
const PARTS_OF_A_PAGE = 20_000
/** A lender in a cursor that comes, as the newest are first, after those of every settlement. */
const BEFORE_LENDERS = '\u0001'
type Item = Static<typeof Settlement>
type Row = { settlement_id: string; gateway: string; lender: string; sorted_at: string }

const columns = sql`
  s.gateway, s.settlement_id, s.lender, s.settled_at, s.utr, s.payments::float8, s.gross::text, s.fees::text, s.tax::text,
  s.refunds::text, s.net::text, s.adjustments::text, s.paid_out::text, s.off_by::text, s.adds_up`

const newestFirst = sql`sorted_at desc, settlement_id collate "C" desc, gateway collate "C" desc`

type Name = { id: string; gateway: string; sortedAt: string; isOfPage: boolean }

/** Settlements, the newest first. Only those of the page are summed up; a page with large ones has fewer than it may. */
export async function findSettlements(db: Database, query: Query): Promise<FoundPage<Item>> {
  const { limit } = query
  const names = await nextNames(db, query)
  const ofPage = names.filter(({ isOfPage }) => isOfPage)
  const rows = await summedUp(db, query, ofPage)
  const { page, next_cursor } = pageOf(rows, limit, row => [
    row.sorted_at,
    hex(row.settlement_id),
    row.gateway,
    hex(row.lender),
  ])
  const settlements = page.map(({ sorted_at: _, ...row }) => asJson<Item>(row))
  const isLast = ofPage.length === names.length && names.length < limit + 2
  const last = ofPage.at(-1)
  const rest =
    isLast || last === undefined
      ? null
      : [last.sortedAt, hex(last.id), last.gateway, hex(BEFORE_LENDERS)].join('.')
  // Settlements with a part in these days may themselves be of later ones. Callers take an empty page for the last.
  if (page.length === 0 && rest !== null) return findSettlements(db, { ...query, cursor: rest })
  return { page: settlements, next_cursor: next_cursor ?? rest }
}

/** The settlements from the cursor's on, with one more than the page may have, and which of them it has by their parts. */
async function nextNames(db: Database, { days, utr, limit, cursor }: Query): Promise<Name[]> {
  const [at = null, id = null, gateway = null, lender] = decodeCursor(cursor, SETTLEMENTS_SORTED_BY)
  // A large one that is done would be all of each further page.
  const isBefore = lender === BEFORE_LENDERS ? sql`<` : sql`<=`
  const wanted = sql`settlement_id is not null and ${equalTo({ utr })} and ${isOf(days)}`
  const { rows } = await sql<Name>`
    with named as (
      select settlement_id, gateway, count(*) as parts,
             coalesce(max((extract(epoch from settled_at) * 1000000)::bigint), 0) as sorted_at
        from (select settlement_id, gateway, settled_at from core.current_settlement_row where ${wanted}
              union all
              select settlement_id, gateway, settled_at from core.current_statement where ${wanted}
              union all
              select settlement_id, gateway, settled_at from core.current_lost_part where ${wanted}) n
       group by settlement_id, gateway
    )
    select settlement_id as id, gateway, sorted_at::text as "sortedAt",
           sum(parts) over (order by ${newestFirst}) - parts < ${PARTS_OF_A_PAGE} as "isOfPage"
      from named
     where ${at}::bigint is null or (sorted_at, settlement_id collate "C", gateway collate "C")
             ${isBefore} (${at}::bigint, ${id}::text, ${gateway}::text)
     order by ${newestFirst}
     limit ${limit + 2}`.execute(db)
  return rows
}

async function summedUp(db: Database, { days, limit, cursor }: Query, names: Name[]) {
  const [at = null, id = null, gateway = null, lender = null] = decodeCursor(
    cursor,
    SETTLEMENTS_SORTED_BY,
  )
  const { rows } = await sql<Row>`
    select ${columns}, n.sorted_at::text
      from unnest(${names.map(one => one.id)}::text[], ${names.map(one => one.gateway)}::text[],
                  ${names.map(one => one.sortedAt)}::bigint[]) n (settlement_id, gateway, sorted_at)
     cross join lateral (
       -- Without "offset 0", PostgreSQL sums up all settlements there are, and then joins them.
       select * from ops.settlement v where v.settlement_id = n.settlement_id and v.gateway = n.gateway offset 0) s
     where ${isOf(days, 's.settled_at')}
       and (${at}::bigint is null or (n.sorted_at, s.settlement_id collate "C", s.gateway collate "C", s.lender collate "C")
             < (${at}::bigint, ${id}::text, ${gateway}::text, ${lender}::text))
     order by n.sorted_at desc, s.settlement_id collate "C" desc, s.gateway collate "C" desc, s.lender collate "C" desc
     limit ${limit + 1}`.execute(db)
  return rows
}

const isOf = (days: Query['days'], settledAt = 'settled_at') => sql`
    (${days === null} or ${sql.ref(settledAt)} >= core.start_of(${days?.from ?? null}::date)
                     and ${sql.ref(settledAt)} < core.start_of(${days?.to ?? null}::date + 1))`

/** A settlement has a row for each gateway and lender that is paid out under its name. */
export async function settlementsNamed(db: Database, id: string) {
  const { rows } = await sql<object>`
    select ${columns} from ops.settlement s where settlement_id = ${id}
     order by gateway, lender`.execute(db)
  return rows.map(row => asJson<Static<typeof Settlement>>(row))
}
