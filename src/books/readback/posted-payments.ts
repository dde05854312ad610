import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { repaymentExternalId } from '../../payments/repayment/due-payment.ts'

export type PostedPayment = {
  id: string
  loan: string
  paymentId: string
  operationId: string
  /**
   * The external id that we gave the repayment. The ledger has a different one, or none, if the repayment was booked in
   * another way and taken as this payment's.
   */
  externalId: string
  ledgerTransactionId: number
  /** What stands of it: nothing, if all of it went back. */
  amount: string
  /** The days as `dd MMMM yyyy`, the earliest first: the repayment may have any of them. */
  days: string[]
}

/** Whether a read-back compares the payment with the ledger, even if nothing of it should stand there any more. */
export const isReadBack = ({ state }: { state: string }) => ['posted', 'returned'].includes(state)

/** The times are as PostgreSQL writes them: a JavaScript Date would lose the microseconds. */
export type Span = { since: string; until: string }
export const ALWAYS: Span = { since: '-infinity', until: 'infinity' }

export async function postedTo(
  db: Database,
  loans: string[],
  { since, until }: Span,
  timeZone: string,
): Promise<PostedPayment[]> {
  type Row = Omit<PostedPayment, 'externalId'> & { gateway: string; postingNumber: number }
  const { rows } = await sql<Row>`
    select id, loan, gateway, payment_id as "paymentId", operation_id as "operationId",
           ledger_transaction_id::float8 as "ledgerTransactionId", posting_number as "postingNumber",
           trim_scale(amount)::text as amount,
           array(select to_char(day, 'DD FMMonth YYYY') from unnest(days) day) as days
      from core.posted_to(${loans}, ${since}, ${until}, ${timeZone})`.execute(db)
  return rows.map(({ gateway, postingNumber, ...payment }) => ({
    ...payment,
    externalId: repaymentExternalId(gateway, payment.paymentId, postingNumber),
  }))
}
