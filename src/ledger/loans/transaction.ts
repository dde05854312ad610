import type { Day } from '../../day.ts'

export type LedgerTransaction = {
  id: number
  externalId?: string
  date: Day
  amount: number
  /** When it was entered, which is not the day that it counts from. */
  submittedOnDate?: Day
  reversedOnDate?: Day
  /** The name that whoever undid the transaction gave the reversal. */
  reversalExternalId?: string
  /** The part of a repayment that its loan no longer owed. */
  overpaymentPortion?: number
  type?: { value?: string; repayment?: boolean; disbursement?: boolean; accrual?: boolean }
  paymentDetailData?: { receiptNumber?: string; paymentType?: { id: number } }
}

/** An undone transaction is still found by its external id; only this date shows that it was undone. */
export const isNotReversed = (transaction: LedgerTransaction) =>
  transaction.reversedOnDate === undefined

export const isOverpayment = ({ overpaymentPortion = 0 }: LedgerTransaction) =>
  overpaymentPortion > 0
