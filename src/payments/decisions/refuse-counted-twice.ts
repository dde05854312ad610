import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { Conflict } from '../../http/problem.ts'
import type { PaymentStanding } from '../locked-payment.ts'
import type { Booked } from './check-resolution.ts'
import type { FinalResolution } from './resolution.ts'

type Name = { gateway: string; id: string }

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

const nameOf = ({ gateway, id }: Name) => `${gateway}/${id}`

/** The payment that this unreadable event is about, or another unreadable event of it that an operator had booked. */
async function readableTwin(trx: Trx, { id }: PaymentStanding): Promise<Name | undefined> {
  const { rows } = await sql<Name>`
    select other.gateway, other.gateway_payment_id as id
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

/**
 * Refuses a transaction whose whole amount other payments have. It may be the sum of several payments, and of less than
 * they are, if their payers bore fees.
 */
async function refuseUsedUp(
  trx: Trx,
  { id, kind }: PaymentStanding,
  { amount, currency }: Booked,
  { transaction, loan }: Place,
): Promise<void> {
  const { rows } = await sql<{ names: string }>`
    select string_agg(gateway || '/' || gateway_payment_id, ', ' order by gateway_payment_id) as names
      from core.transaction
     where external_loan_id = ${loan} and ledger_transaction_id = ${transaction} and id <> ${id}
       and kind = ${kind} and state = 'handled' and currency = ${currency}
    having sum(amount - coalesce(returned_amount, 0)) >= ${amount.toFixed()}`.execute(trx)
  if (rows[0] !== undefined)
    throw new Conflict(
      `The transaction ${transaction} of ${amount} was booked for ${rows[0].names}`,
    )
}

/** The payment that this transaction of the loan was posted for. */
async function postedFor(
  trx: Trx,
  { id }: PaymentStanding,
  { transaction, loan }: Place,
): Promise<Name | undefined> {
  const { rows } = await sql<Name>`
    select gateway, gateway_payment_id as id
      from core.transaction
     where external_loan_id = ${loan} and ledger_transaction_id = ${transaction} and id <> ${id}
       and state = 'posted'
     limit 1`.execute(trx)
  return rows[0]
}
