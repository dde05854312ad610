import { Type } from '@sinclair/typebox'
import { CALLBACK_TYPES } from '../config/settings/callback-settings.ts'
import { QueriedTime } from '../http/fields/day-fields.ts'
import { NullableText, nullable, oneOf, titled } from '../http/fields/schemas.ts'

export const CALLBACK_STATES = ['pending', 'delivered', 'failed'] as const

export const callbackFilters = {
  state: Type.Optional(oneOf(CALLBACK_STATES)),
  type: Type.Optional(oneOf(CALLBACK_TYPES)),
  subject: Type.Optional(
    Type.String({
      maxLength: 300,
      pattern: '^(loan|client|payment|migration):[^\\u0000]+$',
      description: 'loan:, client:, payment: or migration: and an id, such as loan:L-1001',
      examples: ['loan:L-1001'],
    }),
  ),
  from: Type.Optional(QueriedTime),
  to: Type.Optional(QueriedTime),
}

const columns = {
  callback_id: Type.String({ description: 'the webhook-id of each attempt' }),
  type: oneOf(CALLBACK_TYPES),
  subject: Type.String(),
  state: oneOf(CALLBACK_STATES),
  attempts: Type.Integer(),
  next_try_at: NullableText,
  last_status: nullable(Type.Integer()),
  last_error: NullableText,
  created_at: Type.String(),
  delivered_at: NullableText,
}
export const CallbackItem = titled('Callback', columns)

export const CallbackWithAttempts = titled('CallbackWithAttempts', {
  ...columns,
  body: nullable(Type.Object({}, { additionalProperties: true })),
  attempts: Type.Array(
    titled('CallbackAttempt', {
      attempt: Type.Integer(),
      started_at: Type.String(),
      ended_at: Type.String(),
      http_status: nullable(Type.Integer()),
      error: NullableText,
      answer: NullableText,
    }),
  ),
})
