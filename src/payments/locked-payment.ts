import { sql } from 'kysely'
import type { Database, Trx } from '../database/database.ts'
import { equalTo } from '../database/equal-to.ts'
import { Conflict, NotFound } from '../http/problem.ts'
import { lockSettling } from './lock-settling.ts'
import type { PaymentKind } from './payment-record.ts'

/** Without a kind, a payment is preferred to a refund with the same id. */
export type PaymentName = { gateway: string; paymentId: string; kind?: PaymentKind }

export type PaymentStanding = {
  id: string
  kind: PaymentKind
  state: string
  reason: string | null
  objection: string | null
  loan: string | null
  /** The amount in the currency's units, less what went back; null if unknown or not an amount of money. */
  capturedAmount: string | null
  /** What will be posted because an operator decided so, perhaps in another currency; null if none did. */
  decidedAmount: string | null
  /** The currency in which it was captured. */
  currency: string | null
  /** Whether what is posted may be in another currency: that of its loan. */
  isConverted: boolean
  isVerified: boolean
  unreadableKind: string | null
  isOutdated: boolean
  isUnknown: boolean
  /** Changes with the payment's state, reason, objection, amount or loan. */
  version: string
  wasPosted: boolean
}

/** What an unreadable event says it is: a refund or dispute, although it is listed as a payment. */
export const unreadableKind = sql`case when problem = 'unreadable' then nullif(hints ->> 'kind', 'payment') end`

/** Whether its events have changed since it was assigned. */
export const isPaymentOutdated = sql`coalesce(disagreement = 'assignment' or refused_reason = 'events_disagree', false)`

/** Whether it was not in the currency of its loan; later decisions keep that. */
export const isConverted = sql`
  (reason = 'currency_mismatch' or decided_over ->> 'reason' = 'currency_mismatch') is true`

export function noSuchPayment({ gateway, paymentId, kind }: PaymentName): Error {
  return new NotFound(`No ${kind ?? 'payment'} ${paymentId} of ${gateway}`)
}

export function paymentStanding(db: Database, name: PaymentName): Promise<PaymentStanding> {
  return readStanding(db, name, sql``)
}

/** @throws NotFound, or Conflict while an attempt to post the payment may have arrived */
export async function lockDecidable(trx: Trx, name: PaymentName): Promise<PaymentStanding> {
  const payment = await lockPayment(trx, name)
  refuseUnknownOutcome(payment)
  return payment
}

/** @throws NotFound */
export async function lockPayment(trx: Trx, name: PaymentName): Promise<PaymentStanding> {
  await lockSettling(trx)
  return readStanding(trx, name, sql`for update of t`)
}

export function refuseUnknownOutcome({ isUnknown }: PaymentStanding): void {
  if (isUnknown) throw new Conflict('A posting attempt is unresolved: its outcome is unknown')
}

export function stateInWords({ state, reason }: PaymentStanding): string {
  return reason === null ? state : `${state} (${reason})`
}

async function readStanding(db: Database, name: PaymentName, lock: ReturnType<typeof sql>) {
  const { gateway, paymentId, kind } = name
  const { rows } = await sql<PaymentStanding>`
    select id, kind, state, reason, objection, external_loan_id as loan, currency, is_verified as "isVerified",
           ${unreadableKind} as "unreadableKind", ${isPaymentOutdated} as "isOutdated",
           case when amount > 0 then trim_scale(amount
             - case when kind = 'payment' then coalesce(returned_amount, 0) else 0 end)::text end as "capturedAmount",
           case when decision = 'post' then trim_scale(core.posted_amount(t))::text end as "decidedAmount", ${isConverted} as "isConverted",
           exists (select from loanops.operation o
                    where o.id = t.operation_id and o.status = 'processing' and o.unknown_since is not null) as "isUnknown",
           core.version_of(t) as version,
           state = 'posted' or exists (
             select from core.posting p left join loanops.operation o on o.id = p.operation_id
              where p.transaction_id = t.id and (o.status = 'success' or o.id is null)) as "wasPosted"
      from core.transaction t
     where gateway_payment_id = ${paymentId} and gateway = ${gateway} and ${equalTo({ kind })}
     order by kind = 'payment' desc, kind
     limit 1 ${lock}`.execute(db)
  if (rows[0] === undefined) throw noSuchPayment(name)
  return rows[0]
}
