import type { Static } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { asJson } from '../http/as-json.ts'
import { decodeCursor, pageOf } from '../http/cursor.ts'
import type { Payment } from './payment-record.ts'

/** As in JSON: money as decimal text, times in UTC. */
const columns = sql`p.gateway, p.gateway_payment_id, p.kind, p.of_payment_id, p.lender, p.external_loan_id,
  p.amount::text as amount, p.currency, p.paid_at, p.state, p.reason, p.verified,
  p.ledger_transaction_id::text as ledger_transaction_id, p.raw_table, p.raw_id, p.received_at, p.posted_at,
  p.waiting_for, p.next_try_at, p.detail, p.hints, p.objection`

export type PaymentQuery = {
  loan?: string
  state?: string
  gateway?: string
  limit: number
  cursor?: string
}
type PaymentRow = { id: string }

/** Newest first. */
export async function findPayments(db: Database, query: PaymentQuery) {
  const where: RawBuilder<unknown>[] = [sql`true`]
  if (query.loan !== undefined) where.push(sql`p.external_loan_id = ${query.loan}`)
  if (query.state !== undefined) where.push(sql`p.state = ${sql.lit(query.state)}`)
  if (query.gateway !== undefined) where.push(sql`p.gateway = ${query.gateway}`)
  if (query.cursor !== undefined) where.push(sql`p.id < ${decodeCursor(query.cursor, ['uuid'])[0]}`)
  const { rows } = await sql<PaymentRow>`
    select p.id, ${columns} from ops.payment p
     where ${sql.join(where, sql` and `)}
     order by p.id desc
     limit ${query.limit + 1}`.execute(db)
  const { page, next_cursor } = pageOf(rows, query.limit, row => [row.id])
  return { payments: page.map(asJson<Static<typeof Payment>>), next_cursor }
}

/** A refund may have the same id as a payment: without a kind, the payment is returned. */
export async function findPayment(
  db: Database,
  { gateway, paymentId, kind }: { gateway: string; paymentId: string; kind?: string },
) {
  const { rows } = await sql<PaymentRow>`
    select p.id, ${columns} from ops.payment p
     where p.gateway_payment_id = ${paymentId} and p.gateway = ${gateway}
       and (${kind ?? null}::text is null or p.kind = ${kind ?? null})
     order by p.kind = 'payment' desc, p.kind
     limit 1`.execute(db)
  return rows[0] && { id: rows[0].id, payment: asJson<Static<typeof Payment>>(rows[0]) }
}
