import { type TInteger, Type } from '@sinclair/typebox'

/** The query parameters of every list, in addition to its own filters. */
export const listQuery = {
  // Optional for callers, but always present in handlers, because validation fills in the default.
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'a number from 1 to 200',
    }),
  ) as TInteger,
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
}
