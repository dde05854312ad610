import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { prepared } from '../../database/pool/prepared.ts'
import {
  isRespelled,
  type LedgerRepayment,
  receiptOf,
  receiptOfRepayment,
  repaymentAmong,
  spellingOf,
} from '../../ledger/loans/repayment.ts'
import { type LedgerTransaction, stands } from '../../ledger/loans/transaction.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { isOfAnotherPayment, namesGateway, repaymentExternalId } from './due-payment.ts'
import { spelt } from './spelt.ts'

/** A payment's repayment at the ledger, and the name under which it is there. */
type OtherName = {
  booked: LedgerTransaction
  gateway: GatewayName
  name: string
  /** `other_id`: the gateway has reported the same money under two ids. */
  as: 'id' | 'other_id' | 'bank_reference'
}

type Named = { externalId?: string | undefined; receipt: string }

/** What the loan has. */
type Booked = {
  /** Transactions of the same day and amount. A reference alone proves nothing: references repeat, for example in test mode. */
  equal: LedgerTransaction[]
  /** They have this receipt number in any spelling; there may be others among them. */
  ofReceipt: (receipt: { receiptNumber: string }) => LedgerTransaction[]
}

/**
 * The payment, if it is booked under its other name: banks, and systems that had no gateway, know it only by the bank's
 * reference, and gateway B reports some payments under two ids. A file may have any name without the gateway's.
 */
export async function findUnderOtherName(
  db: Database,
  { equal, ofReceipt }: Booked,
  repayment: LedgerRepayment,
): Promise<OtherName | undefined> {
  const wanted: Named = {
    externalId: repayment.externalId,
    receipt: receiptOf(repayment.receiptNumber),
  }
  const others = equal.flatMap(booked => {
    const receipt = receiptOfRepayment(booked)
    return receipt === undefined ? [] : [{ booked, externalId: booked.externalId, receipt }]
  })
  for (const payment of await paymentsOf(db, [wanted, ...others])) {
    const { gateway, paymentId, otherName, isId } = payment
    const hasId = isNamed(payment, paymentId)
    const hasOther = isNamed(payment, otherName)
    const other = hasId(wanted) ? otherName : hasOther(wanted) ? paymentId : undefined
    if (other === undefined) continue
    const as = isId ? 'other_id' : other === paymentId ? 'id' : 'bank_reference'
    const booked = isId
      ? bookedAs(repayment, gateway, other, ofReceipt({ receiptNumber: other }))
      : others.find(isNamed(payment, other))?.booked
    if (booked !== undefined) return { booked, gateway, name: other, as }
  }
  return undefined
}

/** Ids are unique: a transaction with this id is the payment, whatever its day and amount. */
function bookedAs(
  repayment: LedgerRepayment,
  gateway: GatewayName,
  id: string,
  transactions: LedgerTransaction[],
): LedgerTransaction | undefined {
  const externalId = repaymentExternalId(gateway, id)
  const wanted = { ...repayment, externalId, receiptNumber: id }
  return transactions.find(
    one =>
      stands(one) &&
      !isOfAnotherPayment(one.externalId, externalId) &&
      repaymentAmong([one], wanted, namesGateway).state !== 'absent',
  )
}

type KnownPayment = { gateway: GatewayName; paymentId: string; otherName: string; isId: boolean }

/** The payments whose ids are among these receipt numbers, with a row for each other name. */
async function paymentsOf(db: Database, named: Named[]): Promise<KnownPayment[]> {
  const ids = new Set(named.flatMap(({ receipt }) => [receipt, spellingOf(receipt)]))
  // Where there is no reference, programs write zeros or a word.
  const { rows } = await sql<KnownPayment>`${prepared('payments_of_receipts')}
    select t.gateway, coalesce(t.booked_as, t.gateway_payment_id) as "paymentId", n.name as "otherName", n.is_id as "isId"
      from (select * from core.transaction
             where kind = 'payment' and ${spelt(sql`gateway_payment_id`)} = any(array(
                     select ${spelt(sql`id`)} from unnest(${[...ids]}::text[]) id))
             union all
            select * from core.transaction where kind = 'payment' and hints ->> 'cf_txn_id' = any(${[...ids]}::text[])) t
     cross join lateral (
       select t.hints, core.unseen_id_of(t) as id
        union all
       select o.hints, coalesce(o.booked_as, o.gateway_payment_id) from core.twins_of(t) o) s
     cross join lateral (values (s.id, true), (s.hints ->> 'utr', false), (s.hints ->> 'bank_reference', false)) n (name, is_id)
     where n.name ~ '[1-9]'`.execute(db)
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
