import { type Static, Type } from '@sinclair/typebox'
import { trackingId } from '../../engine/operation.ts'
import { ORIGINS } from '../../engine/origin.ts'
import {
  NullableText,
  nullable,
  nullableText,
  oneOf,
  titled,
  titledBody,
} from '../../http/fields/schemas.ts'
import { TrackingId } from '../tracking-id.ts'

export const STATUSES = ['processing', 'success', 'failed'] as const
const ledgerBody = nullable(Type.Object({}, { additionalProperties: true }))
const recordFields = {
  tracking_id: TrackingId,
  operation_type: Type.String(),
  status: oneOf(STATUSES),
  success_response: ledgerBody,
  failure_response: ledgerBody,
  error_message: NullableText,
  processed_at: nullableText('UTC without a zone designator'),
}

export const OperateResponse = titledBody('OperateResponse', {
  tracking_id: TrackingId,
  status: oneOf(['processing']),
})

const { tracking_id, status, ...whenEnded } = recordFields
/** PHP's generator would make one class of a union of both forms, with the values of the last. */
export const TrackingRecord = Type.Object(
  { tracking_id, status, ...Type.Partial(Type.Object(whenEnded)).properties },
  { title: 'TrackingRecord', description: 'while processing, tracking_id and status alone' },
)

const itemFields = {
  ...recordFields,
  external_id: Type.String(),
  accepted_at: Type.String(),
  attempts: Type.Integer(),
  waiting_for: NullableText,
  next_try_at: NullableText,
  last_error: NullableText,
  error_code: NullableText,
  actor: NullableText,
  caller: NullableText,
  address: NullableText,
  request_id: NullableText,
  ignored: {
    ...nullable(Type.Array(Type.String())),
    description: 'unknown members of the request, dropped with UNKNOWN_FIELDS=ignore',
  },
}
export const OperationItem = titled('OperationItem', itemFields)

const OperationAttempt = titled('OperationAttempt', {
  attempt: Type.Integer(),
  times: Type.Integer({ description: 'how many attempts in a row ended like this one' }),
  started_at: Type.String(),
  ended_at: NullableText,
  method: NullableText,
  path: NullableText,
  http_status: nullable(Type.Integer()),
  outcome: NullableText,
})

export type AttemptItem = Static<typeof OperationAttempt>

export const OperationWithAttempts = titled('OperationWithAttempts', {
  ...itemFields,
  attempts: Type.Array(OperationAttempt),
  data: Type.Object({}, { additionalProperties: true }),
  origin: oneOf(ORIGINS),
  predecessor: nullableText('the tracking id of the operation that this one waits for'),
})

export type OperationRow = {
  id: string
  operationType: string
  status: 'processing' | 'success' | 'failed'
  response: object | null
  errorMessage: string | null
  processedAt: Date | null
}

export function trackingRecord(row: OperationRow) {
  const tracking_id = trackingId(row)
  return row.status === 'processing' ? { tracking_id, status: row.status } : wholeRecord(row)
}

export function wholeRecord({
  id,
  operationType,
  status,
  response,
  errorMessage,
  processedAt,
}: OperationRow) {
  return {
    tracking_id: trackingId({ operationType, id }),
    operation_type: operationType,
    status,
    success_response: status === 'success' ? response : null,
    failure_response: status === 'failed' ? response : null,
    error_message: errorMessage,
    processed_at: processedAt === null ? null : withoutZone(processedAt),
  }
}

/** The time in the format that callers know: UTC, without a zone designator. */
const withoutZone = (time: Date): string => time.toISOString().slice(0, -1)
