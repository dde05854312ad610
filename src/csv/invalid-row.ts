import { Type } from '@sinclair/typebox'

/** At most so many invalid rows are listed, the first ones. */
export const MAX_LISTED = 100

export const InvalidRow = Type.Object(
  { line: Type.Integer(), reason: Type.String() },
  { title: 'InvalidRow' },
)
