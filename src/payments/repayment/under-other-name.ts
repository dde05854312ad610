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

/** A payment's repayment at the ledger, and the name by which the payment was to be booked once more. */
type OtherName = {
  booked: LedgerTransaction
  gateway: GatewayName
  paymentId: string
  bankReference: string
  /** Whether it is booked under the bank's reference, and not under its id. */
  isByReference: boolean
}

type Named = { externalId?: string | undefined; receipt: string }

/**
 * The payment, if it is booked under its other name: banks, and systems that had no gateway, know it only by the bank's
 * reference. A file may have either name without the gateway's.
 * @param equal what the loan has with the repayment's day and amount. References come again, as those of test modes do, so
 * that alone they say nothing.
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
    const isId = isNamed(payment, payment.paymentId)
    const isReference = isNamed(payment, payment.bankReference)
    const found = others.find(
      one => (isId(wanted) && isReference(one)) || (isReference(wanted) && isId(one)),
    )
    if (found !== undefined)
      return { booked: found.booked, ...payment, isByReference: isReference(found) }
  }
  return undefined
}

type KnownPayment = Pick<OtherName, 'gateway' | 'paymentId' | 'bankReference'>

/** The payments that have one of these receipt numbers as their ids, each with each of its references. */
async function paymentsOf(db: Database, named: Named[]): Promise<KnownPayment[]> {
  const ids = new Set(named.map(({ receipt }) => receipt))
  // Where there is no reference, programs write zeros or a word.
  const { rows } = await sql<KnownPayment>`
    select gateway, coalesce(booked_as, gateway_payment_id) as "paymentId", reference as "bankReference"
      from core.transaction cross join unnest(array[hints ->> 'utr', hints ->> 'bank_reference']) reference
     where kind = 'payment' and reference ~ '[1-9]'
       and ltrim(lower(left(gateway_payment_id, 50)), '+0') = any(array(
         select ltrim(lower(left(id, 50)), '+0') from unnest(${[...ids]}::text[]) id))`.execute(db)
  return rows
}

/** Whether a repayment has this name of the payment. One under another payment's external id does not. */
const isNamed =
  ({ gateway, paymentId, bankReference }: KnownPayment, name: string) =>
  ({ externalId, receipt }: Named) =>
    isRespelled(receipt, name) &&
    [paymentId, bankReference].some(
      id => !isOfAnotherPayment(externalId, repaymentExternalId(gateway, id)),
    )
