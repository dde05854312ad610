import { Type } from '@sinclair/typebox'
import { NullableText, nullable, nullableText, oneOf, titled } from '../../http/fields/schemas.ts'
import { Text } from '../../http/fields/text-fields.ts'
import { Payment } from '../../payments/payment-record.ts'

export const BUCKETS = [
  'posted',
  'unchecked',
  'waiting',
  'suspense',
  'handled',
  'dismissed',
  'returned',
  'missing',
  'not_at_gateway',
] as const
export type Bucket = (typeof BUCKETS)[number]

const Coverage = nullable(
  Type.Unsafe<'complete' | 'partial'>({
    type: 'string',
    description:
      'complete, or partial if a row of the day was refused or an item of it could not be read; null if nothing covers the day',
  }),
)
const Money = Type.String({ description: 'a decimal, with every digit' })
const Figure = titled('Figure', { payments: Type.Integer(), amount: Money })
const figures = {
  currency: nullableText('null if no event named one'),
  captured: nullable(
    Type.Object(Figure.properties, {
      title: 'CapturedFigure',
      description:
        'what the gateway says it captured, later refunds included; null if no complete statement covers the day',
    }),
  ),
  statement: Coverage,
  buckets: Type.Object(Object.fromEntries(BUCKETS.map(bucket => [bucket, Figure])), {
    title: 'Buckets',
    description:
      'where the money is; a payment of which only a part is in a bucket counts in each of its buckets',
  }),
  balanced: Type.Boolean({
    description:
      'true if a complete statement covers the day, and nothing is unchecked, waiting, in suspense, missing or not at the gateway',
  }),
}

export const ReconciledDay = titled('ReconciledDay', {
  day: Type.String({ description: 'the day of payment in the ledger’s time zone' }),
  lender: Type.String(),
  gateway: Type.String(),
  ...figures,
})

const TotalFigure = titled('TotalFigure', {
  payments: Type.Integer(),
  amount: nullableText('a decimal, with every digit; null if currencies differ'),
})

const ofAll = nullableText('always null')
export const Totals = titled('ReconciledTotals', {
  day: ofAll,
  lender: ofAll,
  gateway: ofAll,
  currency: nullableText('null if there is none, or several'),
  captured: nullable(
    Type.Object(TotalFigure.properties, {
      title: 'CapturedTotal',
      description: 'null if it is null for any day',
    }),
  ),
  statement: Coverage,
  buckets: Type.Object(Object.fromEntries(BUCKETS.map(bucket => [bucket, TotalFigure])), {
    title: 'TotalBuckets',
  }),
  balanced: Type.Boolean({ description: 'whether every day is' }),
})

export const BucketPayment = titled('BucketPayment', {
  ...Payment.properties,
  state: NullableText,
  verified: nullable(Type.Boolean()),
  raw_table: NullableText,
  raw_id: NullableText,
  received_at: NullableText,
  amount_in_bucket: Type.String({
    description: 'the part of the amount that is in the bucket, normally all of it',
  }),
})

export const bucketName = oneOf(BUCKETS)

/** The currency of amounts that nobody could read, so that their day's figure has one too. */
export const NO_CURRENCY = 'none'
export const bucketCurrency = {
  ...Text(100, 'INR'),
  description: `a currency, or "${NO_CURRENCY}" for amounts that could not be read`,
}
