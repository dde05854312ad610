import { type TSchema, Type } from '@sinclair/typebox'
import { CALLBACK_TYPES, type CallbackType } from '../config/settings/callback-settings.ts'
import { nullableText, oneOf, titled } from '../http/fields/schemas.ts'
import { OperationItem } from '../operations/reading/operation-record.ts'
import { Payment } from '../payments/payment-record.ts'
import { MigrationItem } from '../portfolio/migration-record.ts'
import { capitalised } from '../text/capitalised.ts'

const Operation = Type.Pick(
  OperationItem,
  [
    'tracking_id',
    'operation_type',
    'status',
    'success_response',
    'failure_response',
    'error_message',
    'processed_at',
    'external_id',
  ],
  { title: 'ReportedOperation' },
)
/** Callbacks leave out a payment's progress, texts from outside, and what is only known once it is settled with the gateway. */
const NOT_REPORTED = [
  'waiting_for',
  'next_try_at',
  'detail',
  'hints',
  'fee',
  'tax',
  'settlement_id',
  'utr',
] as const
const ReportedPayment = titled('ReportedPayment', {
  ...Type.Omit(Payment, NOT_REPORTED).properties,
  gateway_payment_id: nullableText(
    'null where it does not look like an id, until the payment is posted',
  ),
})

const DATA: Record<string, TSchema> = {
  operation: Operation,
  payment: ReportedPayment,
  migration: MigrationItem,
}
const SUMMARIES: Record<string, string> = {
  operation: 'An operation submitted through the API ended',
  payment: 'A payment, refund or chargeback reached a state',
  migration: 'A run of a portfolio ended',
}

const headers = [
  ['webhook-id', 'the same on each attempt'],
  ['webhook-timestamp', 'when this attempt was made, in seconds since 1970'],
  [
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, for each secret',
  ],
].map(([name, description]) => ({
  in: 'header',
  name,
  description,
  required: true,
  schema: { type: 'string' },
}))

export const callbackDocs = Object.fromEntries(
  CALLBACK_TYPES.map(type => [type, { post: callbackOf(type) }]),
)

function callbackOf(type: CallbackType) {
  const [feature = '', event = ''] = type.split('.')
  const name = capitalised(feature) + capitalised(event)
  const body = Type.Object(
    {
      type: oneOf([type]),
      timestamp: Type.String({ format: 'date-time', description: 'when it happened' }),
      sequence: Type.Integer({ minimum: 1, description: 'its place among those of its subject' }),
      data: DATA[feature] as TSchema,
    },
    { title: `${name}Callback` },
  )
  return {
    operationId: `on${name}`,
    tags: ['callback-receiver'],
    summary: `${SUMMARIES[feature]}: ${type}`,
    security: [],
    parameters: headers,
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      '2XX': { description: 'Delivered' },
      410: { description: 'Stops all callbacks until an operator resumes' },
      default: { description: 'Retried' },
    },
  }
}
