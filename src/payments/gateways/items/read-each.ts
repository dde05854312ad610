import { hash } from 'node:crypto'
import type { Unreadable } from '../gateway-api.ts'
import { UnexpectedAnswer } from './gateway-errors.ts'

/** Something in one item cannot be read. This does not end a fetch, unlike an error in the answer around the items. */
export class UnreadableItem extends UnexpectedAnswer {}

/** What can be read of an item that cannot be read as a whole. */
export type Description = Omit<Unreadable, 'item' | 'reason' | 'mayBeMoney'> & {
  isPayment: boolean
}

/** Reads each item of a list, although others cannot be read. @param describe reads what it can, and never throws */
export function readEach<T>(
  items: unknown[],
  readItem: (item: unknown) => T[],
  describe: (item: unknown) => Description,
): { read: T[]; unreadable: Unreadable[] } {
  const unreadable: Unreadable[] = []
  const read = items.flatMap(item => {
    try {
      return readItem(item)
    } catch (error) {
      unreadable.push(asUnreadable(error, item, describe))
      return []
    }
  })
  return { read, unreadable }
}

/** @throws the error, if it is not about the item */
export function asUnreadable(
  error: unknown,
  item: unknown,
  describe: (item: unknown) => Description,
): Unreadable {
  if (!(error instanceof UnreadableItem)) throw error
  const { isPayment, ...described } = describe(item)
  // A settlement's payment with an id is in the list of payments, too.
  const mayBeMoney = described.kind !== 'settlement' || (isPayment && described.paymentId === null)
  return { ...described, mayBeMoney, item, reason: error.message }
}

export function itemIfReadable<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error
    return null
  }
}

/** The key of an item without an id. */
export const keyOf = (item: unknown): string => hash('sha256', JSON.stringify(item) ?? '')
