import type { Day } from '../../day.ts'

/** What goes out, or only moves between accounts. A product may take money by other types than repayments. */
const TAKES_NOTHING = [
  'disbursement',
  'accrual',
  'accrualActivity',
  'contra',
  'waiveInterest',
  'waiveCharges',
  'interestPaymentWaiver',
  'writeOff',
  'chargeoff',
  'chargeback',
  'creditBalanceRefund',
  'refund',
  'refundForActiveLoans',
  'initiateTransfer',
  'approveTransfer',
  'withdrawTransfer',
  'rejectTransfer',
  'reAge',
  'reAmortize',
] as const

export type LedgerTransaction = {
  id: number
  externalId?: string
  date: Day
  amount: number
  reversedOnDate?: Day
  /** The name that whoever undid the transaction gave the reversal. */
  reversalExternalId?: string
  /** The part of a repayment that its loan no longer owed. */
  overpaymentPortion?: number
  type?: { value?: string; repayment?: boolean; disbursement?: boolean } & Partial<
    Record<(typeof TAKES_NOTHING)[number], boolean>
  >
  paymentDetailData?: { receiptNumber?: string; paymentType?: { id: number } }
}

/** An undone transaction is still found by its external id; only this date shows that it was undone. */
export const isNotReversed = (transaction: LedgerTransaction) =>
  transaction.reversedOnDate === undefined

export const isOverpayment = ({ overpaymentPortion = 0 }: LedgerTransaction) =>
  overpaymentPortion > 0

/** Whether a payer's money may be booked as this transaction. */
export const takesMoney = ({ type = {} }: LedgerTransaction) =>
  !TAKES_NOTHING.some(one => type[one] === true)
