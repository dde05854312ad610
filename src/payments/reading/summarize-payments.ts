import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { NullableText, oneOf, titled } from '../../http/fields/schemas.ts'
import { KINDS, PAYMENT_STATES } from '../payment-record.ts'
import { matchingPayments, type PaymentFilter } from './payment-filter.ts'

export const PaymentTotal = titled('PaymentTotal', {
  lender: Type.String(),
  gateway: Type.String(),
  kind: oneOf(KINDS),
  state: oneOf(PAYMENT_STATES),
  reason: NullableText,
  count: Type.Integer(),
  amount: Type.String({
    description:
      'a decimal with every digit: the sum of the amounts as they are, whatever their currencies; an unknown amount counts as 0',
  }),
})

/**
 * Only the view can tell the states of the few payments on their way to the ledger. Of all others, PostgreSQL knows in how few
 * groups they are, and need not sort them.
 */
export async function summarizePayments(db: Database, filter: PaymentFilter, timeZone: string) {
  const matches = matchingPayments(filter, timeZone)
  const group = sql`p.lender, p.gateway, p.kind, p.state, p.reason`
  const { rows } = await sql<Static<typeof PaymentTotal>>`
    with matching as (
      select ${group}, count(*) as count, sum(p.amount) as amount
        from core.transaction p
       where p.state <> 'posting' and ${matches}
       group by ${group}
      union all
      select ${group}, 1, p.amount
        from ops.payment p
       where p.id = any(array(select id from core.transaction where state = 'posting')) and ${matches}
    )
    select ${group}, sum(p.count)::integer as count, coalesce(sum(p.amount), 0)::text as amount
      from matching p
     group by ${group}
     order by ${group}`.execute(db)
  return { totals: rows }
}
