import { html } from 'hono/html'
import { sql } from 'kysely'
import { MAX_BACKFILL_DAYS } from '../../books/backfill/request-backfill-now.ts'
import { STATEMENT_LIMIT } from '../../books/statements/statement-file.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { type PageRange, pageOfView } from '../../http/lists/page-of-view.ts'
import type { Formats } from '../frame/formats.ts'
import type { Html } from '../frame/html.ts'
import { countUpTo } from '../lists/count.ts'
import {
  column,
  idColumn,
  type List,
  type ListColumn,
  numberColumn,
  timeColumn,
} from '../lists/list.ts'
import { listRoutes } from '../lists/list-routes.ts'
import type { PageContext } from '../page-context.ts'

const lastError = idColumn('last_error', 'Last error')

export async function runsPages(app: App, context: PageContext): Promise<void> {
  for (const list of [batches, readbacks])
    listRoutes(app, context.db, viewList(context.db, list(context.formats)))
  const fetches = viewList(context.db, backfills(context.formats))
  listRoutes(app, context.db, { ...fetches, below: () => gatewayForms(context.config) })
}

const batches = (formats: Formats) => ({
  path: '/batches',
  title: 'Batches',
  view: 'batch_run',
  key: 'batch_id',
  empty: 'Batches that post payments appear here.',
  columns: [
    timeColumn(formats, 'started_at', 'Began'),
    timeColumn(formats, 'ended_at', 'Ended'),
    column('status', 'Status'),
    column('trigger', 'Started by'),
    numberColumn('discovered', 'Sources found'),
    numberColumn('transformed', 'Events read'),
    numberColumn('posted', 'Posted'),
    numberColumn('suspended', 'In suspense'),
    numberColumn('failed', 'Failed'),
    lastError,
    idColumn('batch_id', 'Batch'),
  ],
})

const readbacks = (formats: Formats) => ({
  path: '/readbacks',
  title: 'Read-backs',
  view: 'readback_run',
  key: 'run_id',
  empty: 'Comparisons of posted payments with the ledger appear here.',
  columns: [
    timeColumn(formats, 'started_at', 'Began'),
    timeColumn(formats, 'ended_at', 'Ended'),
    column('status', 'Status'),
    numberColumn('loans', 'Loans'),
    numberColumn('payments', 'Payments'),
    numberColumn('reversed', 'Reversed'),
    numberColumn('missing', 'Missing'),
    numberColumn('differing', 'Differing'),
    numberColumn('failed', 'Loans not read'),
    lastError,
  ],
})

const backfills = (formats: Formats) => ({
  path: '/backfills',
  title: 'Fetches from gateways',
  view: 'backfill',
  key: 'backfill_id',
  empty: 'Fetches of what the gateways captured appear here.',
  columns: [
    column('gateway', 'Gateway'),
    column('lender', 'Lender'),
    timeColumn(formats, 'from', 'From'),
    timeColumn(formats, 'to', 'To'),
    column('status', 'Status'),
    numberColumn('fetched', 'Fetched'),
    numberColumn('missed', 'Missed'),
    timeColumn(formats, 'ended_at', 'Ended'),
    lastError,
  ],
})

function gatewayForms({ gateways, lenders }: Config): Html {
  const choice = html`<label>Gateway <select name="gateway">${gateways.map(({ name }) => html`<option value="${name}">${name}</option>`)}</select></label>`
  const codes = [...lenders.keys()].map(code => html`<option value="${code}">${code}</option>`)
  return html`<h2>Actions</h2><div class="forms">
<form method="post" action="/console/backfills"><h3>Fetch from a gateway</h3>${choice}
<label>Lender <select name="lender"><option value="">the gateway’s own account</option>${codes}</select></label>
<label>From <input type="datetime-local" name="from" required></label>
<label>To <input type="datetime-local" name="to" required></label>
<p><small>In the ledger’s time zone, at most ${MAX_BACKFILL_DAYS} days. Stores what webhooks missed.</small></p>
<button type="submit" class="secondary">Fetch</button></form>
<form method="post" action="/console/statements" enctype="multipart/form-data" data-upload><h3>Upload a gateway’s report</h3>${choice}
<label>Lender <select name="lender">${codes}</select></label>
<label>File <input type="file" name="file" accept=".csv,text/csv" required></label>
<p><small>CSV with a header row, at most ${STATEMENT_LIMIT.text}. Each day of its valid rows then counts as complete, and a day with a refused row as partial. <a href="/console/statements/template.csv" download>Template</a> <a href="/console/books/statements">Uploaded reports</a></small></p>
<progress hidden aria-label="Sent"></progress><p role="status"></p>
<button type="submit" class="secondary">Upload</button></form>
</div>`
}

type Row = Record<string, unknown>
type ViewList = {
  path: string
  title: string
  empty: string
  view: string
  /** A column with a UUIDv7, to sort newest first. */
  key: string
  columns: ListColumn<Row>[]
}

function viewList(db: Database, { view, key, ...list }: ViewList): List<Record<never, never>, Row> {
  const from = sql.table(`ops.${view}`)
  return {
    ...list,
    filters: {},
    cursor: ['uuid'],
    load: (range: PageRange) =>
      pageOfView(db, range, { key, select: sql<Row>`select * from ${from}` }),
    count: () => countUpTo(db, sql`select from ${from}`),
  }
}
