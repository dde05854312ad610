import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type TProperties, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { closed, oneOf } from '../../http/fields.ts'
import { listQuery } from '../../http/list-query.ts'
import { answerPage } from '../frame/answer.ts'
import { count as inDigits } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { live, refreshLink } from '../frame/live.ts'
import { DoneQuery, doneNotice } from '../frame/notice.ts'
import { sharedLoad } from '../frame/shared-load.ts'
import { atMost } from './count.ts'
import { exportCsv } from './export-csv.ts'
import { filterForm } from './filter-form.ts'
import type { Filter, Found, List, Range } from './list.ts'
import { table } from './table.ts'

/** However many people look at the same rows, they are read once in this time. */
const FRESH_MS = 1_000

/** Serves a list as a page, and all of it as CSV. */
export function listRoutes<Filters extends TProperties, Row extends object>(
  list: List<Filters, Row>,
): FastifyPluginAsyncTypebox {
  const schema = {
    querystring: Type.Object(
      {
        ...list.filters,
        ...listQuery(...list.cursor),
        refresh: Type.Optional(oneOf(['off'])),
        done: DoneQuery,
      },
      closed,
    ),
  }
  const loads = sharedLoad<Loaded<Row>>(FRESH_MS)
  return async app => {
    app.get(list.path, { schema }, async (request, reply) => {
      const { filter, range, done } = queryOf<Filters>(request)
      // Whoever has just done something must see its effect.
      if (done !== undefined) loads.forget()
      const key = JSON.stringify([filter, range])
      const loaded = await loads.get(key, () => loadList(list, filter, range))
      const body = await listPage(list, request, loaded)
      return answerPage(request, reply, { title: list.title, body })
    })

    app.get(`${list.path}.csv`, { schema, config: { takesLong: true } }, async (request, reply) => {
      const { filter } = queryOf<Filters>(request)
      const load = (range: Range) => list.load({ ...filter, ...range })
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="${list.path.slice(1)}.csv"`)
        .send(Readable.from(exportCsv(list.columns, load)))
    })
  }
}

type Query = Range & { refresh?: string; done?: string }

function queryOf<Filters extends TProperties>(request: FastifyRequest) {
  const { limit, cursor, refresh, done, ...filter } = request.query as Query & Filter<Filters>
  return {
    filter: filter as unknown as Filter<Filters>,
    range: { limit, ...(cursor && { cursor }) },
    refresh,
    done,
  }
}

/** Rows, and how many match in all. */
type Loaded<Row> = { found: Found<Row>; total: number | null }

async function loadList<Filters extends TProperties, Row>(
  list: List<Filters, Row>,
  filter: Filter<Filters>,
  range: Range,
): Promise<Loaded<Row>> {
  const found = await list.load({ ...filter, ...range })
  const isWhole = range.cursor === undefined && found.next_cursor === null
  return { found, total: isWhole ? found.rows.length : ((await list.count?.(filter)) ?? null) }
}

async function listPage<Filters extends TProperties, Row extends object>(
  list: List<Filters, Row>,
  request: FastifyRequest,
  { found, total }: Loaded<Row>,
): Promise<Html> {
  const { filter, refresh, done } = queryOf<Filters>(request)
  const path = `/console${list.path}`
  return html`<h1>${list.title}</h1>
${doneNotice(done)}
${(await list.above?.(filter, request)) ?? nothing}
${Object.keys(list.filters).length === 0 ? nothing : filterForm(path, list.filters, filter)}
${live(request.url, { refresh }, rowsOf(list, found, { request, filter, total }))}
${list.below?.(filter, request, total) ?? nothing}`
}

type Shown = { request: FastifyRequest; filter: object; total: number | null }

function rowsOf<Filters extends TProperties, Row extends object>(
  list: List<Filters, Row>,
  { rows, next_cursor }: Found<Row>,
  { request, filter, total }: Shown,
): Html {
  const path = `/console${list.path}`
  const query = new URLSearchParams(filter as Record<string, string>).toString()
  const { cursor } = request.query as Query
  return html`<p class="bar"><strong>${inWords(total, rows.length)}</strong>
<a href="${path}.csv${query && `?${query}`}" download>Export CSV</a>${refreshLink(request.url)}</p>
${rows.length === 0 ? html`<p class="hint">${list.empty}</p>` : table(list.columns, rows, list.title)}
<p class="bar">${cursor === undefined ? nothing : html`<a href="${withCursor(request.url, null)}">First page</a>`}
${next_cursor === null ? nothing : html`<a href="${withCursor(request.url, next_cursor)}" rel="next">Next page</a>`}</p>`
}

function withCursor(url: string, cursor: string | null): string {
  const target = new URL(url, 'http://console')
  target.searchParams.delete('done')
  if (cursor === null) target.searchParams.delete('cursor')
  else target.searchParams.set('cursor', cursor)
  return `${target.pathname}${target.search}`
}

function inWords(total: number | null, shown: number): string {
  if (total === null) return `${inDigits(shown)} shown, and more`
  return total === 1 ? '1 row' : `${atMost(total)} rows`
}
