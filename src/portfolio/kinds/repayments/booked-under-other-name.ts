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
  const there = {
    equal: bookings.ofMoney(repayment),
    ofReceipt: (receipt: { receiptNumber: string }) => bookings.ofReceipt(receipt),
  }
  const found = await findUnderOtherName(db, there, repayment)
  if (found === undefined) return undefined
  const { booked, gateway, name, as } = found
  const receipt = `receipt number is ${receiptOfRepayment(booked)} there`
  const how = {
    id: `it is payment ${name} of ${gateway} there, whose bank reference this is: enter ${name} as payment_reference and ${gateway} as gateway`,
    other_id: `${receipt}, under which ${gateway} reported the same money: leave the row out`,
    bank_reference: `${receipt}, the bank’s reference of this payment: leave the row out`,
  }
  const effect = compared({}, [how[as]])
  return effect.state === 'differs' ? { id: booked.id, how: effect.how } : undefined
}
