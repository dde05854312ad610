import type { LedgerDay } from './dates.ts'

/** What we use of a loan's transaction as the ledger shows it. */
export type LedgerTransaction = {
  id: number
  /** One that was booked by hand may have none. */
  externalId?: string
  date: LedgerDay
  amount: number
  reversedOnDate?: LedgerDay
  type?: { repayment?: boolean; disbursement?: boolean }
  paymentDetailData?: { receiptNumber?: string }
}

/** A transaction that was undone is still found by its external id; of an undone disbursement only this date tells. */
export const isStanding = (transaction: LedgerTransaction) =>
  transaction.reversedOnDate === undefined
