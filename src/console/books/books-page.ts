import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { askerOf } from '../../accounts/access/actor.ts'
import { read } from '../../accounts/access/needs.ts'
import { auditExport } from '../../accounts/audit.ts'
import { daysCsv } from '../../books/reconciliation/days-csv.ts'
import { DaysQuery, withDays } from '../../books/reconciliation/days-query.ts'
import { findDays, totalOf } from '../../books/reconciliation/find-days.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { closed } from '../../http/fields/schemas.ts'
import { answerPage } from '../frame/answer.ts'
import type { Html } from '../frame/html.ts'
import { live, Refresh, refreshLink } from '../frame/live.ts'
import { filterForm } from '../lists/filter-form.ts'
import { firstOf } from '../lists/first-of.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'
import { bookColumns } from './book-columns.ts'

const pageSchema = {
  querystring: Type.Object({ ...DaysQuery.properties, refresh: Refresh }, closed),
}

export function booksPage({ db }: PageContext): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/books', { schema: pageSchema, config: read }, async (request, reply) => {
      const { refresh, ...asked } = request.query
      const query = await withDays(db, asked)
      const days = await findDays(db, query)
      const total = totalOf(days)
      const lost = await unbalancedDays(db)
      const export_ = new URLSearchParams(query as Record<string, string>)
      const shown =
        days.length === 0
          ? html`<p class="hint">No payment was made on these days, and no statement covers them. Each day’s money appears here.</p>`
          : html`<p class="${total.balanced ? 'good' : 'bad'}">${total.balanced ? 'Every day is balanced.' : 'Not every day is balanced.'}</p>
${table(bookColumns, days.toReversed(), 'Days')}`
      const body = html`<h1>Books</h1>
${filterForm('/console/books', DaysQuery.properties, query)}
${live(request.url, { refresh }, html`<p class="bar"><a href="/console/books.csv?${export_.toString()}" download>Export CSV</a><a href="/console/books/statements">Uploaded reports</a>${refreshLink(request.url)}</p>${shown}`)}
${lost}`
      return answerPage(request, reply, { title: 'Books', body })
    })

    app.get('/books.csv', { schema: pageSchema, config: read }, async (request, reply) => {
      const { refresh: _, ...asked } = request.query
      const query = await withDays(db, asked)
      const days = await findDays(db, query)
      await auditExport(db, askerOf(request), 'books.csv', query)
      return csvDownload(reply, 'books.csv').send(daysCsv(days))
    })
  }
}

const MAX_DAYS = 20

type LostDay = { day: string; lender: string; gateway: string }

/** Nobody looks again at a day that was once balanced, so the page names those that are not any more. */
async function unbalancedDays(db: PageContext['db']): Promise<Html> {
  const { rows } = await sql<LostDay>`
    select day::text as day, lender, gateway from ops.unbalanced_day order by day desc limit ${MAX_DAYS + 1}`.execute(
    db,
  )
  if (rows.length === 0) return html`<p><small>No balanced day has become unbalanced.</small></p>`
  const { shown, rest } = firstOf(rows, MAX_DAYS)
  return html`<section class="box"><h2>No longer balanced</h2><ul>${shown.map(
    ({ day, lender, gateway }) =>
      html`<li><a href="/console/books?${new URLSearchParams({ from: day, to: day, lender, gateway }).toString()}">${day}</a> ${lender} ${words(gateway)}</li>`,
  )}</ul>${rest}</section>`
}
