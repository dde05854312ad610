import { Type } from '@sinclair/typebox'
import { nullable, oneOf } from '../http/fields.ts'
import { TrackingId } from './tracking-id.ts'

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

export const Processing = Type.Object(
  { tracking_id: TrackingId, status: oneOf(['processing']) },
  { additionalProperties: false },
)

/** What a caller polls: two members while processing, all of them afterwards. */
export const TrackingRecord = Type.Union([Processing, Type.Object(recordFields)])

export const OperationItem = Type.Object({
  ...recordFields,
  external_id: Type.String(),
  accepted_at: Type.String(),
  attempts: Type.Integer(),
  waiting_for: nullable(Type.String()),
  next_try_at: nullable(Type.String()),
  last_error: nullable(Type.String()),
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
  const tracking_id = `${row.operationType}|${row.id}`
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
    tracking_id: `${operationType}|${id}`,
    operation_type: operationType,
    status,
    success_response: status === 'success' ? response : null,
    failure_response: status === 'failed' ? response : null,
    error_message: errorMessage,
    processed_at: processedAt === null ? null : withoutZone(processedAt),
  }
}

/** The format that callers know: UTC, without a zone designator. */
function withoutZone(time: Date): string {
  return time.toISOString().slice(0, -1)
}
