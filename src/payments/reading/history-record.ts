import { Type } from '@sinclair/typebox'
import { NullableText, nullable, titled } from '../../http/fields/schemas.ts'
import { Payment } from '../payment-record.ts'

export const EventRecord = titled('PaymentEvent', {
  raw_table: Type.String(),
  raw_id: Type.String(),
  event_id: NullableText,
  event_type: NullableText,
  received_at: Type.String(),
  address: NullableText,
  verified_by: NullableText,
  // The schema names no type, because many languages have none for a union of unnamed types.
  counts: Type.Unsafe<true | string>({
    description: 'true, or a text: why the event does not count',
  }),
  headers: nullable(Type.Object({}, { additionalProperties: true })),
  body_base64: NullableText,
})

export const AttemptRecord = titled('PostingAttempt', {
  attempt: Type.Integer(),
  started_at: Type.String(),
  ended_at: NullableText,
  http_status: nullable(Type.Integer()),
  outcome: NullableText,
})

export const PaymentWithHistory = titled('PaymentWithHistory', {
  payment: Payment,
  events: Type.Array(EventRecord),
  next_cursor: NullableText,
  attempts: Type.Array(AttemptRecord),
})
