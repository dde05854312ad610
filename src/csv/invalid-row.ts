import { Type } from '@sinclair/typebox'

/** Only the first this many invalid rows are listed. */
export const MAX_LISTED = 100

export const InvalidRow = Type.Object(
  { line: Type.Integer(), reason: Type.String() },
  { title: 'InvalidRow' },
)
