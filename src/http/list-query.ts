import { type TInteger, Type } from '@sinclair/typebox'

/** What every list takes beside its own filters. */
export const listQuery = {
  // Callers may leave it out; handlers have it always, because the default is filled in before them.
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
