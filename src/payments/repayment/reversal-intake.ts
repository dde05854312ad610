import { type Static, Type } from '@sinclair/typebox'
import { repaymentIntake } from './repayment-intake.ts'

const named = { external_id: Type.String(), amount: Type.String() }
export const ReversalData = Type.Object({
  /** The id of the refund or the chargeback in `core.transaction`. */
  transaction_id: Type.String(),
  external_loan_id: Type.String(),
  /** The payment's id, which the remainder keeps. */
  receipt_number: Type.String(),
  /** The repayment that stands. Its number finds one that somebody else booked, or whose external id the ledger lost. */
  repayment: Type.Object({
    ...named,
    ledger_transaction_id: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  }),
  /** The remainder of the repayment, under the next suffix. */
  remainder: Type.Union([Type.Object(named), Type.Null()]),
})
export type Reversal = Static<typeof ReversalData>

export const reversalIntake = { ...repaymentIntake, name: 'REPAYMENT_REVERSAL' }
