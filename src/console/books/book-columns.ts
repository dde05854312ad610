import { html } from 'hono/html'
import { BUCKETS, type Bucket } from '../../books/reconciliation/buckets.ts'
import { NO_CURRENCY } from '../../books/reconciliation/day-record.ts'
import type { findDays } from '../../books/reconciliation/find-days.ts'
import { amount, count } from '../frame/formats.ts'
import type { Html } from '../frame/html.ts'
import { column, numberColumn } from '../lists/columns.ts'
import { capital } from '../lists/filter-form.ts'
import type { ListColumn } from '../lists/list.ts'
import { words } from '../text/words.ts'

type BookDay = Awaited<ReturnType<typeof findDays>>[number]

export const bookColumns: ListColumn<BookDay>[] = [
  column('day', 'Day'),
  column(
    'lender',
    'Lender, gateway',
    ({ lender, gateway }) => html`${lender}<br>${words(gateway)}`,
  ),
  numberColumn('captured', 'Captured', ({ captured, currency, statement }) =>
    captured === null ? `${statement ?? 'no'} statement` : inWords(captured, currency),
  ),
  ...BUCKETS.map(bucket => ({
    name: bucket,
    title: capital(words(bucket)),
    isNumber: true,
    cell: (day: BookDay) => figure(day, bucket),
  })),
  column('balanced', 'Balanced', ({ balanced }) =>
    balanced
      ? html`<span class="good">balanced</span>`
      : html`<span class="bad">not balanced</span>`,
  ),
]

function figure({ day, lender, gateway, currency, buckets }: BookDay, bucket: Bucket): Html | null {
  const found = buckets[bucket]
  if (found.payments === 0) return null
  const of = { day, lender, gateway, bucket, currency: currency ?? NO_CURRENCY }
  const query = new URLSearchParams(of)
  return html`<a href="/console/books/payments?${query.toString()}">${inWords(found, currency)}</a>`
}

const inWords = (
  { payments, amount: sum }: { payments: number; amount: string },
  currency: string | null,
) => `${count(payments)}: ${amount(sum, currency)}`
