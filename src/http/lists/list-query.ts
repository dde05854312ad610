import { type TArray, type TInteger, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { NullableText } from '../fields/schemas.ts'
import { cursorPattern, type FoundPage, type Shape, withList } from './cursor.ts'

/** @param list its name, in lower case */
export const listQuery = (list: string, ...shapes: Shape[]) => ({
  // The limit is optional for callers, but always present in handlers, because validation fills in the default.
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'a whole number from 1 to 200',
    }),
  ) as TInteger,
  cursor: Type.Optional(
    Type.String({
      pattern: cursorPattern(shapes, list),
      description: 'the next_cursor of the previous page, which callers must not interpret',
    }),
  ),
})

/** @param name what the list is called in the answer */
export function listAnswer<Name extends string, Item extends TSchema>(
  name: Name,
  item: Item,
  title: string,
) {
  const members = { [name]: Type.Array(item), next_cursor: NullableText }
  type Members = Record<Name, TArray<Item>> & { next_cursor: TUnsafe<string | null> }
  return { 200: Type.Object(members as unknown as Members, { title }) }
}

/** A page of a list, in the form of the schema of `listAnswer`. */
export function named<Name extends string, Item>(name: Name, found: FoundPage<Item>) {
  const { page } = found
  const next_cursor = withList(name, found.next_cursor)
  return { [name]: page, next_cursor } as Record<Name, Item[]> & { next_cursor: string | null }
}
