import { Type } from '@sinclair/typebox'

export const InvalidRow = Type.Object(
  { line: Type.Integer(), reason: Type.String() },
  { title: 'InvalidRow' },
)
