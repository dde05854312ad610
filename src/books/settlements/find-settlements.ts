import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { asJson } from '../../http/as-json.ts'
import { decodeCursor, hex, pageOf } from '../../http/lists/cursor.ts'
import type { Settlement } from './settlement-record.ts'

export const SETTLEMENTS_SORTED_BY = ['bigint', 'text', 'name', 'text'] as const

/** `days`: those of the settlement, both included; null for any. */
type Query = {
  days: { from: string; to: string } | null
  utr?: string
  limit: number
  cursor?: string
}
type Row = { settlement_id: string; gateway: string; lender: string; sorted_at: string }

const columns = sql`
  s.gateway, s.settlement_id, s.lender, s.settled_at, s.utr, s.payments::float8, s.gross::text, s.fees::text, s.tax::text,
  s.refunds::text, s.net::text, s.adjustments::text, s.paid_out::text, s.off_by::text, s.adds_up`

/** The time of the settlement `n`, as in `ops.settlement`: the last one that any of its parts has. */
const time = sql`
  select max(settled_at) as settled_at
    from (select r.settled_at from core.current_settlement_row r
           where r.settlement_id = n.settlement_id and r.gateway = n.gateway
          union all
          select s.settled_at from core.current_statement s
           where s.settlement_id = n.settlement_id and s.gateway = n.gateway
             and not exists (select from core.current_settlement_row r
                              where r.settlement_id = s.settlement_id and r.gateway = s.gateway
                                and r.kind = 'payment' and r.id = s.gateway_payment_id)
          union all
          select l.settled_at from core.current_lost_part l
           where l.settlement_id = n.settlement_id and l.gateway = n.gateway) part`

const newestFirst = sql`sorted_at desc, settlement_id collate "C" desc, gateway collate "C" desc`

/** Settlements, the newest first. Only those of the page are summed up. */
export async function findSettlements(db: Database, { days, utr, limit, cursor }: Query) {
  const [at = null, id = null, gateway = null, lender = null] = decodeCursor(
    cursor,
    SETTLEMENTS_SORTED_BY,
  )
  const isOfDays = sql`
    (${days === null} or settled_at >= core.start_of(${days?.from ?? null}::date)
                     and settled_at < core.start_of(${days?.to ?? null}::date + 1))`
  const wanted = sql`settlement_id is not null and ${equalTo({ utr })} and ${isOfDays}`
  const { rows } = await sql<Row>`
    with named as (
      select settlement_id, gateway,
             coalesce(max((extract(epoch from settled_at) * 1000000)::bigint), 0) as sorted_at
        from (select settlement_id, gateway, settled_at from core.current_settlement_row where ${wanted}
              union all
              select settlement_id, gateway, settled_at from core.current_statement where ${wanted}
              union all
              select settlement_id, gateway, settled_at from core.current_lost_part where ${wanted}) n
       group by settlement_id, gateway
    ), next as (
      select n.*
        from (select * from named
               where ${at}::bigint is null or (sorted_at, settlement_id collate "C", gateway collate "C")
                       <= (${at}::bigint, ${id}::text, ${gateway}::text)
               order by ${newestFirst}) n
       -- Only settlements of the page are looked at.
       cross join lateral (${time}) whole
       where ${isOfDays}
       order by ${newestFirst}
       limit ${limit + 2}
    )
    select ${columns}, next.sorted_at::text
      from next
     cross join lateral (
       -- Without "offset 0", PostgreSQL sums up all settlements there are, and then joins them.
       select * from ops.settlement v where v.settlement_id = next.settlement_id and v.gateway = next.gateway offset 0) s
     where ${at}::bigint is null or (next.sorted_at, s.settlement_id collate "C", s.gateway collate "C", s.lender collate "C")
             < (${at}::bigint, ${id}::text, ${gateway}::text, ${lender}::text)
     order by next.sorted_at desc, s.settlement_id collate "C" desc, s.gateway collate "C" desc, s.lender collate "C" desc
     limit ${limit + 1}`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [
    row.sorted_at,
    hex(row.settlement_id),
    row.gateway,
    hex(row.lender),
  ])
  const settlements = page.map(({ sorted_at: _, ...row }) => asJson<Static<typeof Settlement>>(row))
  return { page: settlements, next_cursor }
}

/** A settlement has a row for each gateway and lender that is paid out under its name. */
export async function settlementsNamed(db: Database, id: string) {
  const { rows } = await sql<object>`
    select ${columns} from ops.settlement s where settlement_id = ${id}
     order by gateway, lender`.execute(db)
  return rows.map(row => asJson<Static<typeof Settlement>>(row))
}
