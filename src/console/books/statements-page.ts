import { html } from 'hono/html'
import { findStatements } from '../../books/statements/find-statements.ts'
import { paymentFilter } from '../../payments/reading/payment-filter.ts'
import { fileColumns } from '../frame/file-facts.ts'
import { statementPath } from '../frame/paths.ts'
import { exportOnly } from '../lists/export-only.ts'
import { listPage } from '../lists/list-routes.ts'
import { numberColumn } from '../lists/number-column.ts'
import { timeColumn } from '../lists/time-column.ts'
import { words } from '../text/words.ts'

const filters = { gateway: paymentFilter.gateway }

type Row = Awaited<ReturnType<typeof findStatements>>['page'][number]

export const statementsPage = listPage<typeof filters, Row>(({ db, formats }) => ({
  path: '/books/statements',
  title: 'Uploaded reports',
  filters,
  cursor: ['uuid'],
  empty: 'Reports of gateways that were uploaded as files appear here.',
  columns: [
    {
      name: 'file_name',
      title: 'File',
      isId: true,
      cell: row =>
        html`<a href="${statementPath(row.statement_id)}">${row.file_name ?? 'without a name'}</a>`,
    },
    ...fileColumns<Row>(statementPath),
    { name: 'gateway', title: 'Gateway', cell: row => words(row.gateway) },
    { name: 'lender', title: 'Lender' },
    numberColumn('rows', 'Rows'),
    numberColumn('valid_rows', 'Valid'),
    numberColumn('invalid_rows', 'Invalid'),
    { name: 'uploaded_by', title: 'Uploaded by' },
    timeColumn(formats, 'uploaded_at', 'Uploaded'),
    { name: 'withdrawn_by', title: 'Withdrawn by' },
    timeColumn(formats, 'withdrawn_at', 'Withdrawn'),
    ...exportOnly('statement_id'),
  ],
  load: query => findStatements(db, query),
  below: () => html`<p><a href="/console/backfills">Upload a report</a></p>`,
}))
