import { Type } from '@sinclair/typebox'

/** Further invalid rows are counted, but not listed. */
export const MAX_LISTED = 100

export const InvalidRow = Type.Object(
  { line: Type.Integer(), reason: Type.String() },
  { title: 'InvalidRow' },
)
