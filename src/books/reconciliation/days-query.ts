import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { IsoDay } from '../../http/fields/day-fields.ts'
import { only } from '../../http/fields/schemas.ts'
import { invalidField } from '../../http/problem.ts'
import { paymentFilter } from '../../payments/reading/payment-filter.ts'

export const MAX_BOOK_DAYS = 366
const DEFAULT_DAYS = 31
const { lender, gateway } = paymentFilter
export const DaysQuery = only({
  from: Type.Optional({
    ...IsoDay,
    description: `${IsoDay.description}; ${DEFAULT_DAYS} days up to the last one if omitted`,
  }),
  to: Type.Optional({ ...IsoDay, description: `${IsoDay.description}; today if omitted` }),
  lender,
  gateway,
})
export async function withDays(db: Database, query: Static<typeof DaysQuery>) {
  const { from = null, to = null } = query
  const { rows } = await sql<{ from: string; to: string; days: number }>`
    select since::text as from, until::text as to, until - since + 1 as days
      from (select coalesce(${to}::date, core.day_of(now())) as until) u
     cross join lateral (
       select coalesce(${from}::date, until - ${DEFAULT_DAYS - 1}::integer) as since) s`.execute(db)
  const [range] = rows
  if (range === undefined) throw new Error('there is no time zone')
  const refuse = (path: string, message: string) => invalidField(path, message, 'INVALID_QUERY')
  if (range.days < 1) throw refuse('/from', `must not be after ${range.to}`)
  if (range.days > MAX_BOOK_DAYS)
    throw refuse('/to', `must be less than ${MAX_BOOK_DAYS} days after from`)
  return { ...query, from: range.from, to: range.to }
}
