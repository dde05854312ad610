import { at, textOf } from '../items/exact-json.ts'
import { UnexpectedAnswer } from '../items/gateway-errors.ts'
import { shape } from '../items/shape.ts'

/** The items of a page of a list. @throws if its `count` says that it has more: a short page would end the list without them */
export function itemsOn(page: unknown): unknown[] {
  const items = shape.list(page, 'items')
  if (Number(textOf(at(page, 'count'))) > items.length)
    throw new UnexpectedAnswer('a page of its list lacks items that it counts')
  return items
}
