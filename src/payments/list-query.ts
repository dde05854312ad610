import { Type } from '@sinclair/typebox'

/** What every list takes beside its own filters. */
export const listQuery = {
  limit: Type.Integer({
    minimum: 1,
    maximum: 200,
    default: 50,
    description: 'a number from 1 to 200',
  }),
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
}
