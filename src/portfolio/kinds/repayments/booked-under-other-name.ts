import type { Database } from '../../../database/database.ts'
import { compared } from '../../../ledger/effect.ts'
import { type LedgerRepayment, receiptOfRepayment } from '../../../ledger/loans/repayment.ts'
import { findUnderOtherName } from '../../../payments/repayment/under-other-name.ts'
import type { Bookings } from './bookings.ts'

/** @returns how the row differs from the repayment that its payment has under its other name, and what to do */
export async function bookedUnderOtherName(
  db: Database,
  bookings: Bookings,
  repayment: LedgerRepayment,
): Promise<{ id: number; how: string } | undefined> {
  const found = await findUnderOtherName(db, bookings.ofMoney(repayment), repayment)
  if (found === undefined) return undefined
  const { booked, gateway, paymentId, isByReference } = found
  const effect = compared({}, [
    isByReference
      ? `receipt number is ${receiptOfRepayment(booked)} there, the bank’s reference of this payment: leave the row out`
      : `it is payment ${paymentId} of ${gateway} there, whose bank reference this is: enter ${paymentId} as payment_reference and ${gateway} as gateway`,
  ])
  return effect.state === 'differs' ? { id: booked.id, how: effect.how } : undefined
}
