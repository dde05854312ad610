import { Type } from '@sinclair/typebox'

/** Further invalid rows are only counted, so that no answer becomes as large as its file. */
export const MAX_LISTED = 100

export const InvalidRow = Type.Object(
  { line: Type.Integer(), reason: Type.String() },
  { title: 'InvalidRow' },
)
