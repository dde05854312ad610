import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { closed, IsoDay, nullable } from '../../http/fields.ts'
import { listQuery } from '../../http/list-query.ts'
import { FieldErrors } from '../../http/problem.ts'
import { paymentFilter } from '../../payments/payment-filter.ts'
import { daysCsv } from './days-csv.ts'
import { findBucket, SORTED_BY } from './find-bucket.ts'
import { findDays, totalOf } from './find-days.ts'
import { BucketPayment, bucketName, Day, Totals } from './record.ts'

const tags = ['books']
const MOST_DAYS = 366
const DEFAULT_DAYS = 31
const { lender, gateway } = paymentFilter
const days = Type.Object(
  {
    from: Type.Optional({
      ...IsoDay,
      description: `${IsoDay.description}; ${DEFAULT_DAYS} days up to the last one where it is left out`,
    }),
    to: Type.Optional({
      ...IsoDay,
      description: `${IsoDay.description}; today where it is left out`,
    }),
    lender,
    gateway,
  },
  closed,
)
const daysSchema = {
  operationId: 'listReconciliation',
  tags,
  summary: 'Says of each day where the money is that the gateways captured',
  description: `At most ${MOST_DAYS} days. The sum of a day’s buckets is what was captured and what is not at the gateway.`,
  querystring: days,
  response: { 200: Type.Object({ days: Type.Array(Day), totals: Totals }) },
}
const csvSchema = {
  operationId: 'downloadReconciliation',
  tags,
  summary: 'Downloads the same as CSV, one line per day, lender, gateway and currency',
  querystring: days,
  produces: ['text/csv'],
  response: { 200: Type.String() },
}
const paymentsSchema = {
  operationId: 'listReconciledPayments',
  tags,
  summary: 'Lists the payments of a bucket of one day',
  querystring: Type.Object(
    { day: IsoDay, bucket: bucketName, lender, gateway, ...listQuery(...SORTED_BY) },
    closed,
  ),
  response: {
    200: Type.Object({ payments: Type.Array(BucketPayment), next_cursor: nullable(Type.String()) }),
  },
}

/** Whether the books agree with what the gateways say. */
export function reconciliationRoutes({ db }: { db: Database }): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/reconciliation', { schema: daysSchema }, async ({ query }) => {
      const found = await findDays(db, await withDays(db, query))
      return { days: found, totals: totalOf(found) }
    })

    app.get('/reconciliation.csv', { schema: csvSchema }, async ({ query }, reply) => {
      const found = await findDays(db, await withDays(db, query))
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="reconciliation.csv"')
        .send(daysCsv(found))
    })

    app.get('/reconciliation/payments', { schema: paymentsSchema }, ({ query }) =>
      findBucket(db, query),
    )
  }
}

/** Fills in the days that are left out. @throws FieldErrors if they are too many, or in the wrong order */
async function withDays(db: Database, query: Static<typeof days>) {
  const { from = null, to = null } = query
  const { rows } = await sql<{ from: string; to: string; days: number }>`
    select since::text as from, until::text as to, until - since + 1 as days
      from (select coalesce(${to}::date, core.day_of(now())) as until) u
     cross join lateral (select coalesce(${from}::date, until - ${DEFAULT_DAYS - 1}::integer) as since) s`.execute(
    db,
  )
  const [range] = rows
  if (range === undefined) throw new Error('there is no time zone')
  const refuse = (path: string, message: string) =>
    new FieldErrors('INVALID_QUERY', [{ path, message }])
  if (range.days < 1) throw refuse('/from', `must not be after ${range.to}`)
  if (range.days > MOST_DAYS) throw refuse('/to', `must be less than ${MOST_DAYS} days after from`)
  return { ...query, from: range.from, to: range.to }
}
