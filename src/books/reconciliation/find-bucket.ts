import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { asJson } from '../../http/as-json.ts'
import { decodeCursor, hex, pageOf } from '../../http/lists/cursor.ts'
import { ownColumns } from '../../payments/reading/find-payments.ts'
import { type Bucket, type BucketPayment, NO_CURRENCY } from './day-record.ts'

export type BucketQuery = {
  day: string
  bucket: Bucket
  lender?: string
  gateway?: string
  currency?: string
  limit: number
  cursor?: string
}
export const BUCKET_SORTED_BY = ['text', 'name'] as const

export async function findBucket(db: Database, query: BucketQuery) {
  const { day, bucket, lender, gateway, currency, limit, cursor } = query
  const ofCurrency = currency === NO_CURRENCY ? '' : currency
  const [after = null, afterGateway = null] = decodeCursor(cursor, BUCKET_SORTED_BY)
  const { rows } = await sql<{ in_books_of: string; gateway_payment_id: string }>`
    with page as (
      select * from core.parts_of(${day}) p
       where p.bucket = ${bucket}
         and ${equalTo({ 'p.lender': lender, 'p.gateway': gateway, 'p.currency': ofCurrency })}
         and (${after}::text is null
              or (p.gateway_payment_id collate "C", p.gateway) > (${after}, ${afterGateway}))
       order by p.gateway_payment_id collate "C", p.gateway
       limit ${limit + 1}
    )
    -- An event at the wrong URL is in the books of the gateway whose it is.
    select coalesce(p.gateway, page.gateway) as gateway, page.gateway as in_books_of, page.gateway_payment_id,
           'payment' as kind, coalesce(p.lender, page.lender) as lender,
           coalesce(p.amount, case when p.id is null then s.amount end)::text as amount,
           coalesce(p.currency, case when p.id is null then s.currency end) as currency,
           case when p.id is null then s.captured_at else p.paid_at end as paid_at, s.fee::text as fee, s.tax::text as tax,
           s.settlement_id, s.utr, ${ownColumns}, page.amount::text as amount_in_bucket
      from page
      -- Payments are looked up row by row: the planner expects a larger page, and would read both tables as a whole.
      left join lateral (select * from ops.payment p where p.id = page.transaction_id limit 1) p on true
      left join lateral (
        select * from core.current_statement s
         where s.gateway_payment_id = page.gateway_payment_id and s.gateway = page.gateway limit 1) s on true
     order by page.gateway_payment_id collate "C", page.gateway`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [
    hex(row.gateway_payment_id),
    row.in_books_of,
  ])
  return { page: page.map(asJson<Static<typeof BucketPayment>>), next_cursor }
}
