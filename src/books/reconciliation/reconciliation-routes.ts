import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { toRead } from '../../accounts/access/needs.ts'
import { auditExport } from '../../accounts/audit.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { IsoDay } from '../../http/fields/day-fields.ts'
import { only, titled } from '../../http/fields/schemas.ts'
import { listAnswer, listQuery, named } from '../../http/lists/list-query.ts'
import { paymentFilter } from '../../payments/reading/payment-filter.ts'
import { BucketPayment, bucketCurrency, bucketName, ReconciledDay, Totals } from './day-record.ts'
import { daysCsv } from './days-csv.ts'
import { DaysQuery, MAX_BOOK_DAYS, withDays } from './days-query.ts'
import { BUCKET_SORTED_BY, findBucket } from './find-bucket.ts'
import { findDays, totalOf } from './find-days.ts'

const { lender, gateway } = paymentFilter
const daysSchema = {
  operationId: 'listReconciliation',
  summary: 'Shows for each day where the captured money is',
  description: `At most ${MAX_BOOK_DAYS} days. The sum of a day’s buckets is what was captured and what is not at the gateway.`,
  querystring: DaysQuery,
  response: { 200: titled('Reconciliation', { days: Type.Array(ReconciledDay), totals: Totals }) },
}
const csvSchema = {
  operationId: 'downloadReconciliation',
  summary: 'Downloads the same as CSV, one line per day, lender, gateway and currency',
  querystring: DaysQuery,
  produces: ['text/csv'],
  response: { 200: Type.String() },
}
const paymentsSchema = {
  operationId: 'listReconciledPayments',
  summary: 'Lists the payments of a bucket of one day',
  querystring: only({
    day: IsoDay,
    bucket: bucketName,
    lender,
    gateway,
    currency: Type.Optional(bucketCurrency),
    ...listQuery('payments', ...BUCKET_SORTED_BY),
  }),
  response: listAnswer('payments', BucketPayment, 'BucketPaymentList'),
}

export function reconciliationRoutes(app: App, { forReads: db }: { forReads: Database }): void {
  app.get('/reconciliation', toRead(daysSchema), async ({ query }) => {
    const found = await findDays(db, await withDays(db, query))
    return { days: found, totals: totalOf(found) }
  })

  app.get('/reconciliation.csv', toRead(csvSchema), async (request, reply) => {
    const query = await withDays(db, request.query)
    const found = await findDays(db, query)
    await auditExport(db, askerOf(request), 'reconciliation.csv', query)
    return csvDownload(reply, 'reconciliation.csv').send(daysCsv(found))
  })

  app.get('/reconciliation/payments', toRead(paymentsSchema), async ({ query }) =>
    named('payments', await findBucket(db, query)),
  )
}
