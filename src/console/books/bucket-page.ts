import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { type BucketQuery, findBucket, SORTED_BY } from '../../books/reconciliation/find-bucket.ts'
import { bucketName } from '../../books/reconciliation/record.ts'
import { IsoDay } from '../../http/fields.ts'
import { paymentFilter } from '../../payments/payment-filter.ts'
import type { Kind } from '../../payments/payment-record.ts'
import { amount, words } from '../frame/formats.ts'
import type { List } from '../lists/list.ts'
import { listRoutes } from '../lists/list-routes.ts'
import type { PageContext } from '../page-context.ts'
import { paymentPath } from '../payments/payments-page.ts'
import { loanPath } from '../timeline/subject-path.ts'

const { lender, gateway } = paymentFilter
const filters = { day: Type.Optional(IsoDay), bucket: Type.Optional(bucketName), lender, gateway }

type Row = Awaited<ReturnType<typeof findBucket>>['payments'][number]

/** The payments behind one figure of the books. */
export const bucketPage = (context: PageContext) => listRoutes(bucketList(context))

function bucketList({ db, formats }: PageContext): List<typeof filters, Row> {
  return {
    path: '/books/payments',
    title: 'Payments of a day',
    filters,
    cursor: [...SORTED_BY],
    empty: 'Choose a day and a bucket; what is in it would be here.',
    columns: [
      {
        name: 'gateway_payment_id',
        title: 'Payment',
        isId: true,
        // The gateway alone knows what is missing.
        cell: row =>
          row.state === null
            ? row.gateway_payment_id
            : html`<a href="${paymentPath({ ...row, kind: row.kind as Kind })}">${row.gateway_payment_id}</a>`,
      },
      {
        name: 'state',
        title: 'State',
        cell: row => [row.state, row.reason].filter(Boolean).map(words).join(': '),
      },
      {
        name: 'amount_in_bucket',
        title: 'In the bucket',
        isNumber: true,
        cell: row => amount(row.amount_in_bucket, row.currency),
      },
      {
        name: 'amount',
        title: 'Amount',
        isNumber: true,
        cell: row => amount(row.amount, row.currency),
      },
      {
        name: 'external_loan_id',
        title: 'Loan',
        isId: true,
        cell: row =>
          row.external_loan_id === null
            ? null
            : html`<a href="${loanPath(row.external_loan_id)}">${row.external_loan_id}</a>`,
      },
      { name: 'paid_at', title: 'Paid', cell: row => formats.time(row.paid_at) },
      { name: 'lender', title: 'Lender' },
      { name: 'gateway', title: 'Gateway', cell: row => words(row.gateway) },
      ...['currency', 'reason', 'objection', 'ledger_transaction_id', 'posted_at', 'detail'].map(
        name => ({ name, title: name, isExportOnly: true }),
      ),
    ],
    async load({ day, bucket, ...query }) {
      if (day === undefined || bucket === undefined) return { rows: [], next_cursor: null }
      const { payments, next_cursor } = await findBucket(db, {
        ...query,
        day,
        bucket: bucket as BucketQuery['bucket'],
      })
      return { rows: payments, next_cursor }
    },
  }
}
