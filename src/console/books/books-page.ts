import { html } from 'hono/html'
import { sql } from 'kysely'
import { askerOf } from '../../accounts/access/actor.ts'
import { read, toRead } from '../../accounts/access/needs.ts'
import { auditExport } from '../../accounts/audit.ts'
import { BUCKETS, type Bucket, NO_CURRENCY } from '../../books/reconciliation/day-record.ts'
import { daysCsv } from '../../books/reconciliation/days-csv.ts'
import { DaysQuery, withDays } from '../../books/reconciliation/days-query.ts'
import { type findDays, totalOf } from '../../books/reconciliation/find-days.ts'
import { newestDays } from '../../books/reconciliation/newest-days.ts'
import type { App } from '../../http/app.ts'
import { csvDownload, limitExports } from '../../http/csv-download.ts'
import { only } from '../../http/fields/schemas.ts'
import { capitalised } from '../../text/capitalised.ts'
import { answerPage } from '../frame/answer.ts'
import { amount, count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { live, Refresh, refreshLink } from '../frame/live.ts'
import { urlWith } from '../frame/url.ts'
import { filterForm } from '../lists/filter-form.ts'
import { column, type ListColumn, numberColumn } from '../lists/list.ts'
import { firstOf, table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'

const pageSchema = { querystring: only({ ...DaysQuery.properties, refresh: Refresh }) }

export function booksPage(app: App, { db }: PageContext): void {
  app.get('/books', toRead(pageSchema), async (request, reply) => {
    const { refresh, ...asked } = request.query
    const query = await withDays(db, asked)
    const newest = await newestDays(db, query, MAX_ROWS)
    const lost = await unbalancedDays(db)
    const export_ = new URLSearchParams(query as Record<string, string>)
    const body = html`<h1>Books</h1>
${filterForm('/console/books', DaysQuery.properties, query)}
${live(request.url, { refresh }, html`<p class="bar"><a href="/console/books.csv?${export_.toString()}" download>Export CSV</a><a href="/console/books/statements">Uploaded reports</a>${refreshLink(request.url)}</p>${daysIn(newest, query, urlWith(request.url, query))}`)}
${lost}`
    return answerPage(request, reply, { title: 'Books', body })
  })

  const long = { ...read, takesLong: true }
  app.get(
    '/books.csv',
    { schema: pageSchema, onRequest: limitExports, config: long },
    async (request, reply) => {
      const { refresh: _, ...asked } = request.query
      const query = await withDays(db, asked)
      const { days } = await newestDays(db, query, Number.POSITIVE_INFINITY)
      await auditExport(db, askerOf(request), 'books.csv', query)
      return csvDownload(reply, 'books.csv').send(daysCsv(days.toReversed()))
    },
  )
}

/** A row of nine figures has two kilobytes, and a page at most 500. */
const MAX_ROWS = 200

function daysIn(
  { days, isWhole, older }: Awaited<ReturnType<typeof newestDays>>,
  { from, to, lender, gateway }: { from: string; to: string; lender?: string; gateway?: string },
  url: string,
) {
  const isFiltered = lender !== undefined || gateway !== undefined
  if (days.length === 0)
    return html`<p class="hint">No payment ${isFiltered ? 'of this lender or gateway ' : ''}was made on these days, and no statement covers them. Each day’s money appears here.</p>`
  const { balanced } = totalOf(days)
  const day = isWhole && !isFiltered ? 'day' : 'day shown'
  return html`<p class="${balanced ? 'good' : 'bad'}">${balanced ? `Every ${day} is balanced.` : `Not every ${day} is balanced.`}</p>
${table(bookColumns, days, 'Days')}
${isWhole ? nothing : html`<p class="hint">Only the newest ${count(days.length)} rows from ${from} to ${to} are shown. The export has all of these days.</p>`}
${older === null ? nothing : html`<p class="bar"><a href="${urlWith(url, { to: older })}" rel="next">Older days</a></p>`}`
}

const MAX_DAYS = 20

type LostDay = { day: string; lender: string; gateway: string }

/** Nobody looks again at a day that was once balanced, so the page names those that are not any more. */
async function unbalancedDays(db: PageContext['db']): Promise<Html> {
  const { rows } = await sql<LostDay>`
    select day::text as day, lender, gateway from ops.unbalanced_day order by day desc
     limit ${MAX_DAYS + 1}`.execute(db)
  if (rows.length === 0) return html`<p><small>No balanced day has become unbalanced.</small></p>`
  const { shown, rest } = firstOf(rows, MAX_DAYS)
  return html`<section class="box"><h2>No longer balanced</h2><ul>${shown.map(
    ({ day, lender, gateway }) =>
      html`<li><a href="/console/books?${new URLSearchParams({ from: day, to: day, lender, gateway }).toString()}">${day}</a> ${lender} ${words(gateway)}</li>`,
  )}</ul>${rest}</section>`
}

type BookDay = Awaited<ReturnType<typeof findDays>>[number]

const bookColumns: ListColumn<BookDay>[] = [
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
    title: capitalised(words(bucket)),
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
