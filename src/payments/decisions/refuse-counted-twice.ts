import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { Conflict } from '../../http/problem.ts'
import type { PaymentName, PaymentStanding } from '../locked-payment.ts'
import type { Booked } from './check-resolution.ts'
import type { FinalResolution } from './resolution.ts'

/** Call it while holding the lock for settling. @throws Conflict if another payment stands for the same money */
export async function refuseCountedTwice(
  trx: Trx,
  payment: PaymentStanding & { booked: Booked | undefined },
  resolution: FinalResolution,
): Promise<void> {
  if (resolution.outcome === 'dismiss') return
  const twin = await readableTwin(trx, payment)
  if (twin !== undefined)
    throw new Conflict(
      `The event belongs to the payment ${nameOf(twin)}: decide about that one, and dismiss this event`,
    )
  if (resolution.outcome !== 'handled' || resolution.ledger_transaction_id === undefined) return
  const { ledger_transaction_id: transaction, external_loan_id: loan = payment.loan } = resolution
  const other = await postedFor(trx, payment, { transaction, loan })
  if (other !== undefined)
    throw new Conflict(`The transaction ${transaction} was posted for ${nameOf(other)}`)
  if (payment.booked !== undefined)
    await refuseUsedUp(trx, payment, payment.booked, { transaction, loan })
}

const nameOf = ({ gateway, paymentId }: PaymentName) => `${gateway}/${paymentId}`

/** The payment that this unreadable event is about, or another unreadable event of it that an operator had booked. */
async function readableTwin(trx: Trx, { id }: PaymentStanding): Promise<PaymentName | undefined> {
  const { rows } = await sql<PaymentName>`
    select other.gateway, other.gateway_payment_id as "paymentId"
      from core.transaction t
      join core.transaction other
        on other.gateway = core.gateway_of(t) and other.kind = 'payment'
           and other.gateway_payment_id = t.hints ->> 'payment_id' and other.is_captured
     where t.id = ${id} and t.problem = 'unreadable'
    union all
    select other.gateway, other.gateway_payment_id
      from core.transaction t
      join core.transaction other
        on core.gateway_of(other) = core.gateway_of(t)
           and other.problem = 'unreadable' and other.id <> t.id
           and other.hints ->> 'payment_id' = t.hints ->> 'payment_id' and other.decision in ('post', 'handled')
     where t.id = ${id} and t.problem = 'unreadable'
     limit 1`.execute(trx)
  return rows[0]
}

type Place = { transaction: string | number; loan: string | null }

/** Events do not always state what a payer bore; no gateway asks for a larger share of the payment. */
const MAX_FEE_SHARE = 0.05

/**
 * Refuses a ledger transaction if, after the other payments it was resolved for, less is left than this payment. One
 * transaction may cover several payments, less the fees that their payers bore; for a single payment it may be a part.
 */
async function refuseUsedUp(
  trx: Trx,
  { id, kind }: PaymentStanding,
  { amount, currency }: Booked,
  { transaction, loan }: Place,
): Promise<void> {
  const { rows } = await sql<{ names: string; left: string; own: string | null }>`
    select string_agg(gateway || '/' || gateway_payment_id, ', ' order by gateway_payment_id) filter (where not is_own) as names,
           trim_scale(${amount.toFixed()} - sum(money) filter (where not is_own))::text as left,
           trim_scale(sum(money) filter (where is_own))::text as own
      from core.transaction
     cross join lateral (
       select id = ${id} as is_own, greatest(amount, 0) - coalesce(returned_amount, 0) as money,
              coalesce(base.number_of(hints -> 'payer_fee'), amount * ${MAX_FEE_SHARE}::numeric) as fee) one
     where (id = ${id} or external_loan_id = ${loan} and ledger_transaction_id = ${transaction} and state = 'handled')
       and kind = ${kind} and currency = ${currency}
    having sum(money) filter (where not is_own) >= ${amount.toFixed()}
        or bool_or(not is_own) and sum(money - fee) > ${amount.toFixed()}`.execute(trx)
  if (rows[0] === undefined) return
  const { names, left, own } = rows[0]
  const rest = Number(left) > 0 ? `: the ${left} left of it is less than the ${own} paid` : ''
  throw new Conflict(`The transaction ${transaction} of ${amount} was booked for ${names}${rest}`)
}

/** The payment that this transaction of the loan was posted for. */
async function postedFor(trx: Trx, { id }: PaymentStanding, { transaction, loan }: Place) {
  const { rows } = await sql<PaymentName>`
    select gateway, gateway_payment_id as "paymentId"
      from core.transaction
     where external_loan_id = ${loan} and ledger_transaction_id = ${transaction} and id <> ${id}
       and state = 'posted'
     limit 1`.execute(trx)
  return rows[0]
}
