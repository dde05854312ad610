import { decodeCursor } from '../../http/lists/cursor.ts'
import type { findPayments, PaymentQuery } from '../../payments/reading/find-payments.ts'

type Found = Awaited<ReturnType<typeof findPayments>>
type Find = (query: PaymentQuery) => Promise<Found>

/** Payments, suspense first, because somebody must decide about it. The cursor says in which part the next page begins. */
export async function suspenseFirst({ cursor, ...query }: PaymentQuery, find: Find) {
  const [part, last] = decodeCursor(cursor, ['name', 'uuid'])
  const after = last === undefined || last === FROM_THE_START ? {} : { cursor: last }
  // A filter by state leaves only one of the two.
  if (query.state !== undefined) return inPart('rest', await find({ ...query, ...after }))
  if (part === 'rest')
    return inPart('rest', await find({ ...query, ...after, isOutsideSuspense: true }))
  const suspended = await find({ ...query, ...after, state: 'suspense' })
  if (suspended.next_cursor !== null) return inPart('suspense', suspended)
  const limit = query.limit - suspended.page.length
  const rest = await find({ ...query, limit: Math.max(limit, 1), isOutsideSuspense: true })
  // If no room is left, the next page begins with the rest.
  if (limit === 0)
    return {
      page: suspended.page,
      next_cursor: rest.page.length > 0 ? `rest.${FROM_THE_START}` : null,
    }
  const { page, next_cursor } = inPart('rest', rest)
  return { page: [...suspended.page, ...page], next_cursor }
}

/** A cursor with this id begins at the start of its part. */
const FROM_THE_START = 'ffffffff-ffff-7fff-bfff-ffffffffffff'

function inPart(part: string, { page, next_cursor }: Found) {
  return { page, next_cursor: next_cursor === null ? null : `${part}.${next_cursor}` }
}
