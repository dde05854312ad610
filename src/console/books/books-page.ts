import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { daysCsv } from '../../books/reconciliation/days-csv.ts'
import { DaysQuery, withDays } from '../../books/reconciliation/days-query.ts'
import { findDays, totalOf } from '../../books/reconciliation/find-days.ts'
import { closed, oneOf } from '../../http/fields.ts'
import { answerPage } from '../frame/answer.ts'
import { live, refreshLink } from '../frame/live.ts'
import { filterForm } from '../lists/filter-form.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { bookColumns } from './book-columns.ts'

const pageSchema = {
  querystring: Type.Object(
    { ...DaysQuery.properties, refresh: Type.Optional(oneOf(['off'])) },
    closed,
  ),
}

/** Of each day, where the money is that the gateways captured. */
export function booksPage({ db }: PageContext): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/books', { schema: pageSchema }, async (request, reply) => {
      const { refresh, ...asked } = request.query
      const query = await withDays(db, asked)
      const days = await findDays(db, query)
      const total = totalOf(days)
      const export_ = new URLSearchParams(query as Record<string, string>)
      const shown =
        days.length === 0
          ? html`<p class="hint">No payment was made and no statement came on these days. Each day’s money would be here.</p>`
          : html`<p class="${total.balanced ? 'good' : 'bad'}">${total.balanced ? 'Every day is balanced.' : 'Not every day is balanced.'}</p>
${table(bookColumns, days.toReversed(), 'Days')}`
      const body = html`<h1>Books</h1>
${filterForm('/console/books', DaysQuery.properties, query)}
${live(request.url, { refresh }, html`<p class="bar"><a href="/console/books.csv?${export_.toString()}" download>Export CSV</a>${refreshLink(request.url)}</p>${shown}`)}`
      return answerPage(request, reply, { title: 'Books', body })
    })

    app.get('/books.csv', { schema: pageSchema }, async (request, reply) => {
      const { refresh: _, ...asked } = request.query
      const days = await findDays(db, await withDays(db, asked))
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="books.csv"')
        .send(daysCsv(days))
    })
  }
}
