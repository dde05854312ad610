import { repaymentIntake } from './repayment-intake.ts'

export type Reversal = {
  /** The id of the refund or the chargeback in `core.transaction`. */
  transaction_id: string
  external_loan_id: string
  /** The payment's id, which the remainder keeps. */
  receipt_number: string
  /** The repayment that stands. By its number, one is found that somebody else booked, or whose external id the ledger lost. */
  repayment: { external_id: string; amount: string; ledger_transaction_id?: number | null }
  /** The remainder of the repayment, under the next suffix. */
  remainder: { external_id: string; amount: string } | null
}

export const reversalIntake = { ...repaymentIntake, name: 'REPAYMENT_REVERSAL' }
