import { Type } from '@sinclair/typebox'
import {
  NullableText,
  nullable,
  nullableText,
  oneOf,
  only,
  titled,
} from '../http/fields/schemas.ts'

export const KINDS = ['payment', 'refund', 'chargeback'] as const
export type PaymentKind = (typeof KINDS)[number]
export const PAYMENT_STATES = [
  'waiting',
  'posting',
  'posted',
  'suspense',
  'failed',
  'returned',
  'handled',
  'dismissed',
] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

const filled = (description: string, example: string) =>
  Type.String({ pattern: '^[^\\u0000]+$', description, examples: [example] })

export const PaymentParams = Type.Object({
  gateway: filled('a gateway’s name', 'gateway_a'),
  gateway_payment_id: filled('a payment’s id', 'pay_1'),
})
export const kindQuery = only({ kind: Type.Optional(oneOf(KINDS)) })

export const OBJECTIONS = [
  'refund',
  'chargeback',
  'events_disagree',
  'differs_at_ledger',
  'taken_back',
] as const
export type Objection = (typeof OBJECTIONS)[number]

export const Payment = titled('Payment', {
  gateway: Type.String(),
  gateway_payment_id: Type.String(),
  kind: oneOf(KINDS),
  of_payment_id: NullableText,
  lender: Type.String(),
  external_loan_id: NullableText,
  amount: nullableText('a decimal, with every digit'),
  currency: NullableText,
  paid_at: NullableText,
  state: oneOf(PAYMENT_STATES),
  reason: NullableText,
  verified: Type.Boolean(),
  ledger_transaction_id: NullableText,
  raw_table: Type.String(),
  raw_id: Type.String(),
  received_at: Type.String(),
  posted_at: NullableText,
  waiting_for: NullableText,
  next_try_at: NullableText,
  detail: nullableText(
    'the last response of the ledger or of LoanOps’s own checks; for a posted payment, how its repayment differs',
  ),
  hints: nullable(Type.Object({}, { additionalProperties: true })),
  objection: nullableText('what contradicts a posted payment, or one that is decided'),
  fee: nullableText('of the gateway, excluding tax; null until it is known'),
  tax: nullableText('on the fee'),
  settlement_id: NullableText,
  utr: nullableText('the bank’s reference of the settlement'),
  matched_by: nullableText('what named the loan: notes, the kind of a reference, or operator'),
  suggested_loan: nullableText('the loan of the payment’s customer or payer'),
  returned_amount: nullableText('how much of a payment went back to its payer'),
})

export const BatchRun = titled('BatchRun', {
  batch_id: Type.String(),
  trigger: Type.String(),
  status: Type.String(),
  started_at: NullableText,
  ended_at: NullableText,
  discovered: Type.Integer(),
  transformed: Type.Integer(),
  posted: Type.Integer(),
  suspended: Type.Integer(),
  failed: Type.Integer(),
  requested_at: Type.String(),
  discover_seconds: nullable(Type.Number()),
  transform_seconds: nullable(Type.Number()),
  post_seconds: nullable(Type.Number()),
  last_error: NullableText,
})
