import { type Static, Type } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import { equalTo } from '../../database/equal-to.ts'
import { IsoDay } from '../../http/fields/day-fields.ts'
import { oneOf } from '../../http/fields/schemas.ts'
import { TAKE, trimText } from '../../http/fields/take-values.ts'
import { invalidField } from '../../http/problem.ts'
import { BLANK } from '../../text/trimmed.ts'
import { GATEWAYS } from '../gateways/gateways.ts'
import { KINDS, type Objection, PAYMENT_STATES } from '../payment-record.ts'
import { REASONS } from '../suspense-reasons.ts'

const NOT_BLANK = `^[${BLANK}]*[^\\s${BLANK}\\u0000][^\\u0000]*$`
const text = (maxLength: number, description: string) =>
  Type.String({ [TAKE]: trimText, minLength: 1, maxLength, pattern: NOT_BLANK, description })

export const paymentFilter = {
  // The name that the event has, even if no loan can have it.
  loan: Type.Optional(text(200, 'a loan’s name of 1 to 200 characters')),
  lender: Type.Optional(text(40, 'a lender’s code, or UNKNOWN')),
  gateway: Type.Optional(oneOf(GATEWAYS)),
  kind: Type.Optional(oneOf(KINDS)),
  state: Type.Optional(oneOf(PAYMENT_STATES)),
  reason: Type.Optional(oneOf(REASONS)),
  from: Type.Optional(IsoDay),
  to: Type.Optional(IsoDay),
}
const PaymentFilter = Type.Object(paymentFilter)
export type PaymentFilter = Static<typeof PaymentFilter> & {
  objection?: Objection
  isOutsideSuspense?: boolean
}

/** A condition on `ops.payment p`, or on `core.transaction p` unless a state needs the view. @throws FieldErrors */
export function matchingPayments(filter: PaymentFilter, timeZone: string): RawBuilder<unknown> {
  const { loan, lender, gateway, kind, state, reason, from, to } = filter
  if (from !== undefined && to !== undefined && from > to)
    throw invalidField('/from', `must not be after ${to}`, 'INVALID_QUERY')
  const startOf = (day: string, plus: number) =>
    sql`core.start_of(${day}::date + ${sql.lit(plus)}, ${timeZone})`
  const where = [equalTo({ 'p.external_loan_id': loan, 'p.lender': lender, 'p.gateway': gateway })]
  if (lender !== undefined && gateway !== undefined) where.push(hasSource(lender, gateway))
  if (kind !== undefined) where.push(sql`p.kind = ${sql.lit(kind)}`)
  if (state !== undefined) where.push(isOfDays(filter) ? ofDaysIn(state) : inState(state))
  if (reason !== undefined) where.push(sql`p.reason = ${sql.lit(reason)}`)
  if (filter.objection !== undefined) where.push(sql`p.objection = ${sql.lit(filter.objection)}`)
  if (filter.isOutsideSuspense === true) where.push(sql`p.state <> 'suspense'`)
  if (from !== undefined) where.push(sql`p.paid_at >= ${startOf(from, 0)}`)
  if (to !== undefined) where.push(sql`p.paid_at < ${startOf(to, 1)}`)
  return sql.join(where, sql` and `)
}

/**
 * Whether a lender has had events of a gateway. A payment has the lender of one of its events, or UNKNOWN where they differ.
 * PostgreSQL asks this first: otherwise, for a gateway that a lender does not use, it would read all of the lender's payments.
 */
const hasSource = (lender: string, gateway: string) =>
  lender === 'UNKNOWN'
    ? sql`true`
    : sql`exists (select from core.source s where s.lender = ${lender} and s.gateway = ${gateway})`

export const isOfDays = ({ from, to }: PaymentFilter) => from !== undefined || to !== undefined

const inState = (state: string) => sql`p.state = ${sql.lit(state)}`

/**
 * The condition on a state within some days. PostgreSQL assumes that each state is rare and would read all rows that have
 * it, so this excludes the other states day by day.
 */
function ofDaysIn(state: string): RawBuilder<unknown> {
  if (state !== 'posted') return inState(state)
  const others = PAYMENT_STATES.filter(other => other !== state).map(other => sql.lit(other))
  return sql`p.state not in (${sql.join(others)})`
}
