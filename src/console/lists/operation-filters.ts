import { Type } from '@sinclair/typebox'
import { ORIGINS } from '../../engine/origin.ts'
import { IsoDay } from '../../http/fields/day-fields.ts'
import { oneOf } from '../../http/fields/schemas.ts'
import { ExternalId, Text } from '../../http/fields/text-fields.ts'
import { NOTHING, WAITING_REASONS } from '../../operations/reading/operation-filter.ts'
import { STATUSES } from '../../operations/reading/operation-record.ts'

const MAX_PER_CODE = 200
export const operationFilters = {
  external_id: Type.Optional(ExternalId),
  status: Type.Optional(oneOf(STATUSES)),
  waiting_for: Type.Optional(oneOf([...WAITING_REASONS, NOTHING])),
  operation_type: Type.Optional(
    Type.String({ pattern: '^[A-Z][A-Z_]{0,39}$', description: 'an operation’s name' }),
  ),
  origin: Type.Optional(oneOf(ORIGINS)),
  error_code: Type.Optional(Text(MAX_PER_CODE, 'error.msg.loan.not.found')),
  failed_on: Type.Optional(IsoDay),
}
