import { type RawBuilder, sql } from 'kysely'
import {
  isOfDays,
  matchingPayments,
  type PaymentFilter,
} from '../../payments/reading/payment-filter.ts'

export function somePayments(filter: PaymentFilter, timeZone: string): RawBuilder<unknown> {
  const { state = '' } = filter
  // Only the view can tell these states apart.
  const from = ['waiting', 'posting'].includes(state) ? 'ops.payment' : 'core.transaction'
  // This is the order of the index on days; in a different order, PostgreSQL would read other days first.
  const order = isOfDays(filter) ? sql`order by p.paid_at desc` : sql``
  return sql`select from ${sql.table(from)} p where ${matchingPayments(filter, timeZone)} ${order}`
}
