import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import {
  isRespelled,
  type LedgerRepayment,
  receiptOf,
  receiptOfRepayment,
} from '../../ledger/loans/repayment.ts'
import type { LedgerTransaction } from '../../ledger/loans/transaction.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { isOfAnotherPayment, repaymentExternalId } from './due-payment.ts'

/** A payment's repayment at the ledger, and the name under which it is there. */
type OtherName = {
  booked: LedgerTransaction
  gateway: GatewayName
  name: string
  /** `other_id`: the gateway has reported the same money under two ids. */
  as: 'id' | 'other_id' | 'bank_reference'
}

type Named = { externalId?: string | undefined; receipt: string }

/**
 * The payment, if it is booked under its other name: banks, and systems that had no gateway, know it only by the bank's
 * reference, and gateway B reports some payments under two ids. A file may have any name without the gateway's.
 * @param equal what the loan has with the repayment's day and amount: references repeat, as in test modes, and prove nothing
 * alone
 */
export async function findUnderOtherName(
  db: Database,
  equal: LedgerTransaction[],
  { externalId, receiptNumber }: LedgerRepayment,
): Promise<OtherName | undefined> {
  const wanted: Named = { externalId, receipt: receiptOf(receiptNumber) }
  const others = equal.flatMap(booked => {
    const receipt = receiptOfRepayment(booked)
    return receipt === undefined ? [] : [{ booked, externalId: booked.externalId, receipt }]
  })
  if (others.length === 0) return undefined
  for (const payment of await paymentsOf(db, [wanted, ...others])) {
    const { gateway, paymentId, otherName, isId } = payment
    const hasId = isNamed(payment, paymentId)
    const hasOther = isNamed(payment, otherName)
    const byOther = hasId(wanted) ? others.find(hasOther) : undefined
    if (byOther !== undefined) {
      const as = isId ? 'other_id' : 'bank_reference'
      return { booked: byOther.booked, gateway, name: otherName, as }
    }
    const byId = hasOther(wanted) ? others.find(hasId) : undefined
    if (byId !== undefined)
      return { booked: byId.booked, gateway, name: paymentId, as: isId ? 'other_id' : 'id' }
  }
  return undefined
}

type KnownPayment = { gateway: GatewayName; paymentId: string; otherName: string; isId: boolean }

/** The payments whose ids are among these receipt numbers, with a row for each other name. */
async function paymentsOf(db: Database, named: Named[]): Promise<KnownPayment[]> {
  const ids = new Set(named.map(({ receipt }) => receipt))
  // Where there is no reference, programs write zeros or a word.
  const { rows } = await sql<KnownPayment>`
    select t.gateway, coalesce(t.booked_as, t.gateway_payment_id) as "paymentId", n.name as "otherName", n.is_id as "isId"
      from core.transaction t
     cross join lateral (
       select t.hints, null as id
        union all
       select o.hints, coalesce(o.booked_as, o.gateway_payment_id) from core.twins_of(t) o) s
     cross join lateral (values (s.id, true), (s.hints ->> 'utr', false), (s.hints ->> 'bank_reference', false)) n (name, is_id)
     where t.kind = 'payment' and n.name ~ '[1-9]'
       and ltrim(lower(left(t.gateway_payment_id, 50)), '+0') = any(array(
         select ltrim(lower(left(id, 50)), '+0') from unnest(${[...ids]}::text[]) id))`.execute(db)
  return rows
}

/** Whether a repayment has this name of the payment. One under another payment's external id does not. */
const isNamed =
  ({ gateway, paymentId, otherName }: KnownPayment, name: string) =>
  ({ externalId, receipt }: Named) =>
    isRespelled(receipt, name) &&
    [paymentId, otherName].some(
      id => !isOfAnotherPayment(externalId, repaymentExternalId(gateway, id)),
    )
