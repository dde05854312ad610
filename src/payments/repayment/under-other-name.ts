import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import {
  isRespelled,
  type LedgerRepayment,
  receiptOfRepayment,
} from '../../ledger/loans/repayment.ts'
import type { LedgerTransaction } from '../../ledger/loans/transaction.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { isOfAnotherPayment, isOfGateway, repaymentExternalId } from './due-payment.ts'

/** A payment's repayment at the ledger, and the name by which the payment was to be booked once more. */
type OtherName = {
  booked: LedgerTransaction
  gateway: GatewayName
  paymentId: string
  bankReference: string
}

/**
 * The payment, if it is booked under its other name: banks, and systems that had no gateway, know it only by the bank's
 * reference.
 * @param equal what the loan has with the repayment's day and amount. References come again, as those of test modes do, so
 * that alone they say nothing.
 */
export async function findUnderOtherName(
  db: Database,
  equal: LedgerTransaction[],
  wanted: LedgerRepayment,
): Promise<OtherName | undefined> {
  const isOurs = isOfGateway(wanted.externalId)
  const others = equal.filter(
    one => receiptOfRepayment(one) !== undefined && isOfGateway(one.externalId) !== isOurs,
  )
  if (others.length === 0) return undefined
  const ids = isOurs ? [wanted.receiptNumber] : others.map(one => receiptOfRepayment(one))
  // Where there is no reference, programs write zeros or a word.
  const { rows } = await sql<Omit<OtherName, 'booked'>>`
    select gateway, coalesce(booked_as, gateway_payment_id) as "paymentId", reference as "bankReference"
      from core.transaction cross join unnest(array[hints ->> 'utr', hints ->> 'bank_reference']) reference
     where kind = 'payment' and gateway_payment_id = any(${ids}) and reference ~ '[1-9]'`.execute(
    db,
  )
  for (const row of rows) {
    const isOther = (externalId = '') =>
      isOfAnotherPayment(externalId, repaymentExternalId(row.gateway, row.paymentId))
    if (isOurs && isOther(wanted.externalId)) continue
    const booked = others.find(one =>
      isOurs
        ? isRespelled(receiptOfRepayment(one), row.bankReference)
        : !isOther(one.externalId) && isRespelled(wanted.receiptNumber, row.bankReference),
    )
    if (booked !== undefined) return { booked, ...row }
  }
  return undefined
}
