import { Type } from '@sinclair/typebox'
import { bucketCurrency, bucketName } from '../../books/reconciliation/day-record.ts'
import {
  BUCKET_SORTED_BY,
  type BucketQuery,
  findBucket,
} from '../../books/reconciliation/find-bucket.ts'
import { IsoDay } from '../../http/fields/day-fields.ts'
import { paymentFilter } from '../../payments/reading/payment-filter.ts'
import { amount, type Formats } from '../frame/formats.ts'
import {
  amountColumn,
  column,
  exportOnly,
  type ListColumn,
  loanColumn,
  numberColumn,
  paymentColumn,
  timeColumn,
} from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
import { words } from '../text/words.ts'

const { lender, gateway } = paymentFilter
const filters = {
  day: Type.Optional(IsoDay),
  bucket: Type.Optional(bucketName),
  lender,
  gateway,
  currency: Type.Optional(bucketCurrency),
}

type Row = Awaited<ReturnType<typeof findBucket>>['page'][number]

export const bucketPage = listPage<typeof filters, Row>(({ db, formats }) => ({
  path: '/books/payments',
  title: 'Payments of a day',
  filters,
  cursor: BUCKET_SORTED_BY,
  empty: 'No payment matches. With a day and a bucket, its payments appear here.',
  columns: bucketColumns(formats),
  async load({ day, bucket, ...query }) {
    if (day === undefined || bucket === undefined) return { page: [], next_cursor: null }
    return findBucket(db, { ...query, day, bucket: bucket as BucketQuery['bucket'] })
  },
}))

function bucketColumns(formats: Formats): ListColumn<Row>[] {
  return [
    paymentColumn,
    column('state', 'State', row => [row.state, row.reason].filter(Boolean).map(words).join(': ')),
    numberColumn('amount_in_bucket', 'In the bucket', row =>
      amount(row.amount_in_bucket, row.currency),
    ),
    amountColumn,
    loanColumn,
    timeColumn(formats, 'paid_at', 'Paid'),
    column('lender', 'Lender'),
    column('gateway', 'Gateway', row => words(row.gateway)),
    ...exportOnly('currency', 'reason', 'objection', 'ledger_transaction_id', 'detail'),
    { ...timeColumn(formats, 'posted_at', 'Posted'), isExportOnly: true },
  ]
}
