import type { App } from '../../http/app.ts'
import type { Formats } from '../frame/formats.ts'
import { column, idColumn, numberColumn } from '../lists/columns.ts'
import { listRoutes } from '../lists/list-routes.ts'
import { timeColumn } from '../lists/time-column.ts'
import { viewList } from '../lists/view-list.ts'
import type { PageContext } from '../page-context.ts'
import { gatewayForms } from './gateway-forms.ts'

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
