import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { asJson } from '../../http/as-json.ts'
import { decodeCursor, pageOf } from '../../http/lists/cursor.ts'
import { noSuchPayment, type PaymentName } from '../locked-payment.ts'
import type { Payment } from '../payment-record.ts'
import { isOfDays, matchingPayments, type PaymentFilter } from './payment-filter.ts'

/** What no statement of the gateway says about a payment. */
export const ownColumns = sql`p.of_payment_id, p.external_loan_id, p.state, p.reason, p.verified,
  p.ledger_transaction_id::text as ledger_transaction_id, p.raw_table, p.raw_id, p.received_at, p.posted_at,
  p.waiting_for, p.next_try_at, p.detail, p.hints, p.objection, p.matched_by, p.suggested_loan,
  p.returned_amount::text as returned_amount`
const columns = sql`p.gateway, p.gateway_payment_id, p.kind, p.lender, p.amount::text as amount, p.currency, p.paid_at,
  p.fee::text as fee, p.tax::text as tax, p.settlement_id, p.utr, ${ownColumns}`

export type PaymentQuery = PaymentFilter & { limit: number; cursor?: string }
type PaymentRow = { id: string }

/** Only the view can tell these states apart; there are few such rows. */
const IN_PROGRESS = ['waiting', 'posting']

/** Payments, newest first; if filtered by day, by time of payment, so that only those days are read. */
export async function findPayments(db: Database, query: PaymentQuery, timeZone: string) {
  const { state = '', limit, cursor } = query
  const ofDays = isOfDays(query)
  const [last] = decodeCursor(cursor, ['uuid'])
  const before = ofDays
    ? sql`(p.paid_at, p.id) < ((select paid_at from core.transaction where id = ${last}), ${last}::uuid)`
    : sql`p.id < ${last}`
  const order = ofDays ? sql`p.paid_at desc, p.id desc` : sql`p.id desc`
  // The page is found in the table, because PostgreSQL would sort the whole view.
  const { rows } = await sql<PaymentRow>`
    select p.id, ${columns} from ops.payment p
     where p.id = any(array(
       select p.id from ${sql.table(IN_PROGRESS.includes(state) ? 'ops.payment' : 'core.transaction')} p
        where ${matchingPayments(query, timeZone)} and ${last === undefined ? sql`true` : before}
        order by ${order}
        limit ${limit + 1}))
     order by ${order}`.execute(db)
  const { page, next_cursor } = pageOf(rows, limit, row => [row.id])
  return { page: page.map(asJson<Static<typeof Payment>>), next_cursor }
}

export async function readNamedPayment(db: Database, name: PaymentName) {
  const { gateway, paymentId, kind } = name
  const { rows } = await sql<PaymentRow & { version: string }>`
    select p.id, (select core.version_of(t) from core.transaction t where t.id = p.id) as version, ${columns}
      from ops.payment p
     where p.gateway_payment_id = ${paymentId} and p.gateway = ${gateway} and ${equalTo({ 'p.kind': kind })}
     order by p.kind = 'payment' desc, p.kind
     limit 1`.execute(db)
  if (rows[0] === undefined) throw noSuchPayment(name)
  const { version, ...row } = rows[0]
  return { id: row.id, version, payment: asJson<Static<typeof Payment>>(row) }
}
