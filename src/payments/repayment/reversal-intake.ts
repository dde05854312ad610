import { loanSubject, type Operation } from '../../engine/operation.ts'

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

export const reversalIntake: Pick<Operation, 'name' | 'subject' | 'externalId' | 'waitsFor'> = {
  name: 'REPAYMENT_REVERSAL',
  subject: data => loanSubject(String(data.external_loan_id)),
  externalId: data => String(data.external_loan_id),
}
