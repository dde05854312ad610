import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Trx } from '../../database/database.ts'
import { newOperation } from '../../engine/accept.ts'
import { repaymentExternalId } from './due-payment.ts'
import { type Reversal, reversalIntake } from './reversal-intake.ts'
import { startPosting } from './start-posting.ts'

type Standing = {
  id: string
  loan: string
  gateway: string
  paymentId: string
  postingNumber: number
  ledgerTransactionId: number | null
  stands: string
  /** The amount that is left; null if nothing is. */
  left: string | null
}
type Start = { batch: string | null; traceparent: string | null }

/** The reversals that this batch has not tried yet, one per payment: each changes the amount that the next starts from. */
export async function dueReversals(trx: Trx, batch: string, most: number): Promise<string[]> {
  const { rows } = await sql<{ id: string; payment: string }>`
    select r.id, p.id as payment
      from core.transaction r
      join core.transaction p on core.is_payment_of(p, r)
     where r.state = 'waiting' and r.unconfirmed is null and r.kind <> 'payment' and r.batch_id is distinct from ${batch}
       and p.state = 'posted' and core.can_reverse(r, p) and not core.is_being_reversed(p)
     order by r.paid_at, r.received_at, r.id
     limit ${most} for update of r, p skip locked`.execute(trx)
  return [...new Map(rows.toReversed().map(({ id, payment }) => [payment, id])).values()]
}

/**
 * Starts reversals of refunds and chargebacks whose payments are posted and locked. One with the decision `restore` is
 * put back instead.
 */
export async function startReversals(
  trx: Trx,
  boss: PgBoss,
  ids: string[],
  { batch, traceparent }: Start,
): Promise<number> {
  if (ids.length === 0) return 0
  const { rows } = await sql<Standing>`
    select r.id, p.external_loan_id as loan, p.gateway, coalesce(p.booked_as, p.gateway_payment_id) as "paymentId",
           p.posting_number as "postingNumber", p.ledger_transaction_id::float8 as "ledgerTransactionId",
           trim_scale(core.posted_amount(p))::text as stands,
           trim_scale(nullif(greatest(core.posted_amount(p)
             + case r.decision when 'restore' then r.amount else -r.amount end, 0), 0))::text as left
      from core.transaction r
      join core.transaction p on core.is_payment_of(p, r)
     where r.id = any(${ids}::uuid[])
     order by r.paid_at, r.received_at, r.id`.execute(trx)
  const operations = rows.map(row =>
    newOperation(reversalIntake, reversalOf(row), null, { traceparent }),
  )
  await startPosting(trx, boss, operations, batch)
  // What was read back may not stand any more: until it is read again, its day is not balanced. The refund keeps the time
  // for a reversal that changes nothing.
  await sql`
    with kept as (
      update core.transaction r set read_back_at = p.read_back_at
        from core.transaction p
       where r.id = any(${ids}::uuid[]) and core.is_payment_of(p, r)
      returning p.id)
    update core.transaction p set read_back_at = null from kept where p.id = kept.id`.execute(trx)
  return rows.length
}

function reversalOf(standing: Standing) {
  const { id, loan, gateway, paymentId, postingNumber, ledgerTransactionId, stands, left } =
    standing
  const externalId = (number: number) => repaymentExternalId(gateway, paymentId, number)
  return {
    transaction_id: id,
    external_loan_id: loan,
    receipt_number: paymentId,
    repayment: {
      external_id: externalId(postingNumber),
      amount: stands,
      ledger_transaction_id: ledgerTransactionId,
    },
    remainder: left === null ? null : { external_id: externalId(postingNumber + 1), amount: left },
  } satisfies Reversal
}
