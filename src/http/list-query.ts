import { type TInteger, Type } from '@sinclair/typebox'
import { cursorPattern, type Shape } from './cursor.ts'

export const listQuery = (...shapes: Shape[]) => ({
  // The limit is optional for callers, but always present in handlers, because validation fills in the default.
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'a number from 1 to 200',
    }),
  ) as TInteger,
  cursor: Type.Optional(
    Type.String({
      pattern: cursorPattern(shapes),
      description: 'the next_cursor of the previous page, which callers must not interpret',
    }),
  ),
})
