import { Readable } from 'node:stream'
import type { TProperties } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { askerOf } from '../../accounts/access/actor.ts'
import { auditExport } from '../../accounts/audit.ts'
import { asCsv, BOM } from '../../csv/as-csv.ts'
import { escapeFormula } from '../../csv/formula.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { csvDownload, limitExports } from '../../http/csv-download.ts'
import { only } from '../../http/fields/schemas.ts'
import { type FoundPage, withList } from '../../http/lists/cursor.ts'
import { listQuery } from '../../http/lists/list-query.ts'
import type { PageRange } from '../../http/lists/page-of-view.ts'
import { answerPage } from '../frame/answer.ts'
import { count as inDigits } from '../frame/formats.ts'
import { type Content, type Html, nothing } from '../frame/html.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice } from '../frame/notice.ts'
import { urlWith } from '../frame/url.ts'
import type { PageContext } from '../page-context.ts'
import { countText } from './count.ts'
import { filterForm } from './filter-form.ts'
import type { Filter, List, ListColumn } from './list.ts'
import { sharedLoad } from './shared-load.ts'
import { cellText, table } from './table.ts'

/** A page is made at most once per interval and role, however many people look at it. */
const FRESH_MS = 1_000
const MAX_AGE_MS = 5_000

/** A page that is a list and nothing else. */
export const listPage =
  <Filters extends TProperties, Row extends object>(
    listOf: (context: PageContext) => List<Filters, Row>,
  ) =>
  (app: App, context: PageContext): void =>
    listRoutes(app, context.db, listOf(context))

export function listRoutes<Filters extends TProperties, Row extends object>(
  app: App,
  db: Database,
  list: List<Filters, Row>,
): void {
  const ofList = listQuery(nameOf(list), ...list.cursor)
  const schema = { querystring: only({ ...list.filters, ...ofList, ...liveQuery }) }
  const { needs = 'read' } = list
  const pages = sharedLoad<Awaited<Html>>(FRESH_MS, MAX_AGE_MS)
  app.get(list.path, { schema, config: { needs } }, async (request, reply) => {
    // Users must see the effect of what they have just done.
    if (queryOf(request).done !== undefined) pages.forget()
    const { role } = request.user
    const body = await pages.get(`${role} ${request.url}`, () => pageBody(list, request))
    return answerPage(request, reply, { title: list.title, body })
  })

  app.get(
    `${list.path}.csv`,
    { schema, onRequest: limitExports, config: { needs, takesLong: true } },
    async (request, reply) => {
      const { filter } = queryOf<Filters>(request)
      const load = (range: PageRange) =>
        (list.loadInFixedOrder ?? list.load)({ ...filter, ...range })
      const lines = await exportCsv(list.columns, load)
      await auditExport(db, askerOf(request), `${list.path.slice(1)}.csv`, filter)
      return csvDownload(reply, `${nameOf(list)}.csv`).send(Readable.from(lines))
    },
  )
}

const nameOf = ({ path }: { path: string }) => path.slice(1).replaceAll('/', '_')

type Query = PageRange & { refresh?: string; done?: string }

function queryOf<Filters extends TProperties>(request: FastifyRequest) {
  const { limit, cursor, refresh, done, ...filter } = request.query as Query & Filter<Filters>
  return {
    filter: filter as unknown as Filter<Filters>,
    range: { limit, ...(cursor && { cursor }) },
    refresh,
    done,
  }
}

type Loaded = {
  rows: Html
  shown: number
  next_cursor: string | null
  total: number | null
  above: Content
}

async function loadList<Filters extends TProperties, Row extends object>(
  list: List<Filters, Row>,
  filter: Filter<Filters>,
  range: PageRange,
): Promise<Loaded> {
  const { page: rows, next_cursor } = await list.load({ ...filter, ...range })
  const shown = rows.length
  const isWhole = range.cursor === undefined && next_cursor === null
  return {
    rows:
      shown === 0 ? html`<p class="hint">${list.empty}</p>` : table(list.columns, rows, list.title),
    shown,
    next_cursor: withList(nameOf(list), next_cursor),
    total: isWhole ? shown : ((await list.count?.(filter)) ?? null),
    above: (await list.above?.(filter)) ?? nothing,
  }
}

async function pageBody<Filters extends TProperties, Row extends object>(
  list: List<Filters, Row>,
  request: FastifyRequest,
): Promise<Awaited<Html>> {
  const { filter, range, refresh, done } = queryOf<Filters>(request)
  const loaded = await loadList(list, filter, range)
  const path = `/console${list.path}`
  return html`<h1>${list.title}</h1>
${doneNotice(done)}
${loaded.above}
${Object.keys(list.filters).length === 0 ? nothing : filterForm(path, list.filters, { ...filter, ...list.typed?.(filter) })}
${live(request.url, { refresh }, rowsOf(path, filter, request, loaded))}
${(request.user.role === 'viewer' ? nothing : list.below?.(filter)) ?? nothing}`
}

function rowsOf(
  path: string,
  filter: object,
  request: FastifyRequest,
  { rows, shown, next_cursor, total }: Loaded,
): Html {
  const query = new URLSearchParams(filter as Record<string, string>).toString()
  const { cursor } = request.query as Query
  return html`<p class="bar"><strong>${inWords(total, shown)}</strong>
<a href="${path}.csv${query && `?${query}`}" download>Export CSV</a>${refreshLink(request.url)}</p>
${rows}
<p class="bar">${cursor === undefined ? nothing : html`<a href="${withCursor(request.url, null)}">First page</a>`}
${next_cursor === null ? nothing : html`<a href="${withCursor(request.url, next_cursor)}" rel="next">Next page</a>`}</p>`
}

const withCursor = (url: string, cursor: string | null) => urlWith(url, { done: null, cursor })

function inWords(total: number | null, shown: number): string {
  if (total === null) return `${inDigits(shown)} shown, and more`
  return total === 1 ? '1 row' : `${countText(total)} rows`
}

/** Rows held in memory during an export: at some kB each, a few MB, whatever the size of the list. */
const ROWS_AT_ONCE = 500

type Load<Row> = (range: PageRange) => Promise<FoundPage<Row>>

/** Loads the first rows before the answer begins: once it has begun, a filter can no longer be refused. */
async function exportCsv<Row extends object>(
  columns: ListColumn<Row>[],
  load: Load<Row>,
): Promise<AsyncGenerator<string>> {
  return csvOf(columns, load, await load({ limit: ROWS_AT_ONCE }))
}

async function* csvOf<Row extends object>(
  columns: ListColumn<Row>[],
  load: Load<Row>,
  first: FoundPage<Row>,
): AsyncGenerator<string> {
  yield BOM + asCsv([columns.map(({ name, exported }) => exported?.name ?? name)])
  for (let part = first; ; part = await load({ limit: ROWS_AT_ONCE, cursor: part.next_cursor })) {
    yield asCsv(part.page.map(row => columns.map(column => escapeFormula(exportText(column, row)))))
    if (part.next_cursor === null) return
  }
}

const exportText = <Row extends object>({ name, exported }: ListColumn<Row>, row: Row) =>
  exported?.text(row) ?? cellText(row, name)
