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

export async function summarizePayments(db: Database, filter: PaymentFilter, timeZone: string) {
  const { rows } = await sql<Static<typeof PaymentTotal>>`
    select p.lender, p.gateway, p.kind, p.state, p.reason, count(*)::integer as count,
           coalesce(sum(p.amount), 0)::text as amount
      from ops.payment p
     where ${matchingPayments(filter, timeZone)}
     group by p.lender, p.gateway, p.kind, p.state, p.reason
     order by p.lender, p.gateway, p.kind, p.state, p.reason`.execute(db)
  return { totals: rows }
}
