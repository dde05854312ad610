import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Trx } from '../../database/database.ts'
import { Conflict } from '../../http/problem.ts'
import type { PaymentStanding } from '../locked-payment.ts'
import { startReversals } from '../repayment/start-reversals.ts'
import { settle } from '../settle.ts'

const BY_HAND = { batch: null, traceparent: null }

/** Takes this refund or chargeback out of its payment. @throws Conflict if its payment does not stand with that much */
export async function reverse(trx: Trx, boss: PgBoss, { id }: PaymentStanding): Promise<void> {
  const payment = await paymentOf(trx, id)
  if (payment.state !== 'posted')
    throw new Conflict(`Its payment is ${payment.state}: only what is posted can be reversed`)
  if (payment.excess !== null) throw new Conflict(payment.excess)
  if (!payment.isFit) throw new Conflict(OTHER_CURRENCY)
  if (payment.isLeftOut) throw new Conflict(LEFT_OUT)
  await sql`update core.transaction set decision = null where id = ${id}`.execute(trx)
  await startReversals(trx, boss, [id], BY_HAND)
  await settle(trx, [payment])
}

/** Posts again what this refund or chargeback took out of its payment. @throws Conflict if that cannot be posted now */
export async function restore(trx: Trx, boss: PgBoss, { id }: PaymentStanding): Promise<void> {
  const payment = await paymentOf(trx, id)
  if (!RESTORABLE.includes(payment.state))
    throw new Conflict(`Nothing can be put back: the payment is ${payment.state}`)
  if (!payment.isInCurrency) throw new Conflict(OTHER_CURRENCY)
  await sql`
    update core.transaction r
       set decision = 'restore', decided_over = jsonb_build_object('last_done', core.last_done(r))
     where id = ${id}`.execute(trx)
  if (payment.state === 'posted') await startReversals(trx, boss, [id], BY_HAND)
  // Nothing of this payment is at the ledger: the next batch posts it.
  else await putBack(trx, id, payment.id)
  await settle(trx, [payment])
}

const OTHER_CURRENCY = 'It is not an amount in the currency in which its payment was posted'

const LEFT_OUT =
  'Its amount was left out when its payment was posted: resolve it, or the one that was left out instead, as handled'

const RESTORABLE = ['posted', 'returned', 'waiting', 'suspense']

type ReversedPayment = {
  id: string
  state: string
  excess: string | null
  isFit: boolean
  isInCurrency: boolean
  /** Whoever posted the payment left this refund's amount out: the refunds booked by hand do not explain the difference. */
  isLeftOut: boolean
}

/**
 * The payment of this refund, which is locked.
 * @throws Conflict if there is none, or another reversal of it is under way
 */
async function paymentOf(trx: Trx, id: string): Promise<ReversedPayment> {
  const { rows } = await sql<ReversedPayment & { isUnderWay: boolean }>`
    select p.id, p.state, core.exceeds(r) as excess, core.can_reverse(r, p) as "isFit",
           core.is_in_currency_of(r, p) as "isInCurrency", core.is_being_reversed(p) as "isUnderWay",
           coalesce(p.decision = 'post' and core.has_cleared(p, r)
                    and p.decided_amount + r.amount + (
                          select coalesce(sum(o.amount), 0)
                            from core.transaction o
                           where o.of_payment_id = r.of_payment_id and o.gateway = r.gateway and o.kind <> 'payment' and o.id <> r.id
                             and o.decision = 'handled' and core.has_cleared(p, o)) <= p.amount, false) as "isLeftOut"
      from core.transaction r
      join core.transaction p on core.is_payment_of(p, r)
     where r.id = ${id} for update of p`.execute(trx)
  const [payment] = rows
  if (payment === undefined)
    throw new Conflict('The payment of this refund or chargeback has not been received')
  if (payment.isUnderWay) throw new Conflict('Another reversal of its payment is under way')
  return payment
}

async function putBack(trx: Trx, id: string, payment: string): Promise<void> {
  await sql`
    with put as (
      update core.transaction set state = 'waiting', posted_at = null, ledger_transaction_id = null, returned_amount = null
       where id = ${id} returning amount
    )
    update core.transaction p
       set returned_amount = nullif(p.returned_amount - put.amount, 0),
           -- Its other refunds are decided first, and may be due now.
           state = case p.state when 'returned' then 'waiting' else p.state end,
           difference = case p.state when 'returned' then null else p.difference end,
           ledger_amount = case p.state when 'returned' then null else p.ledger_amount end
      from put
     where p.id = ${payment}`.execute(trx)
}
