import { type Static, Type } from '@sinclair/typebox'
import { trackingId } from '../../engine/operation.ts'
import { ORIGINS } from '../../engine/origin.ts'
import { closed, nullable, oneOf } from '../../http/fields/schemas.ts'
import { TrackingId } from '../tracking-id.ts'

export const STATUSES = ['processing', 'success', 'failed'] as const
const ledgerBody = nullable(Type.Object({}, { additionalProperties: true }))
const recordFields = {
  tracking_id: TrackingId,
  operation_type: Type.String(),
  status: oneOf(STATUSES),
  success_response: ledgerBody,
  failure_response: ledgerBody,
  error_message: nullable(Type.String()),
  processed_at: nullable(Type.String({ description: 'UTC without a zone designator' })),
}

export const OperateResponse = Type.Object(
  { tracking_id: TrackingId, status: oneOf(['processing']) },
  { ...closed, title: 'OperateResponse' },
)

const { tracking_id, status, ...whenEnded } = recordFields
/** PHP's generator would make one class of a union of both forms, with the values of the last. */
export const TrackingRecord = Type.Object(
  { tracking_id, status, ...Type.Partial(Type.Object(whenEnded)).properties },
  { title: 'TrackingRecord', description: 'while processing, tracking_id and status alone' },
)

const text = nullable(Type.String())
const itemFields = {
  ...recordFields,
  external_id: Type.String(),
  accepted_at: Type.String(),
  attempts: Type.Integer(),
  waiting_for: text,
  next_try_at: text,
  last_error: text,
  error_code: text,
  actor: text,
  caller: text,
  address: text,
  request_id: text,
  ignored: {
    ...nullable(Type.Array(Type.String())),
    description: 'unknown members of the request, dropped with UNKNOWN_FIELDS=ignore',
  },
}
export const OperationItem = Type.Object(itemFields, { title: 'OperationItem' })

const OperationAttempt = Type.Object(
  {
    attempt: Type.Integer(),
    times: Type.Integer({ description: 'how many attempts in a row ended like this one' }),
    started_at: Type.String(),
    ended_at: text,
    method: text,
    path: text,
    http_status: nullable(Type.Integer()),
    outcome: text,
  },
  { title: 'OperationAttempt' },
)

export type AttemptItem = Static<typeof OperationAttempt>

export const OperationWithAttempts = Type.Object(
  {
    ...itemFields,
    attempts: Type.Array(OperationAttempt),
    data: Type.Object({}, { additionalProperties: true }),
    origin: oneOf(ORIGINS),
    predecessor: nullable(
      Type.String({ description: 'the tracking id of the operation that this one waits for' }),
    ),
  },
  { title: 'OperationWithAttempts' },
)

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
function withoutZone(time: Date): string {
  return time.toISOString().slice(0, -1)
}
