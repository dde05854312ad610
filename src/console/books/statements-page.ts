import { html } from 'hono/html'
import { findStatements } from '../../books/statements/find-statements.ts'
import { paymentFilter } from '../../payments/reading/payment-filter.ts'
import { fileColumns } from '../frame/file-facts.ts'
import { link } from '../frame/html.ts'
import { statementPath } from '../frame/paths.ts'
import { column, exportOnly, idColumn, numberColumn, timeColumn } from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
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
    idColumn('file_name', 'File', row =>
      link(statementPath(row.statement_id), row.file_name ?? 'without a name'),
    ),
    ...fileColumns<Row>(statementPath),
    column('gateway', 'Gateway', row => words(row.gateway)),
    column('lender', 'Lender'),
    numberColumn('rows', 'Rows'),
    numberColumn('valid_rows', 'Valid'),
    numberColumn('invalid_rows', 'Invalid'),
    column('uploaded_by', 'Uploaded by'),
    timeColumn(formats, 'uploaded_at', 'Uploaded'),
    column('withdrawn_by', 'Withdrawn by'),
    timeColumn(formats, 'withdrawn_at', 'Withdrawn'),
    ...exportOnly('statement_id'),
  ],
  load: query => findStatements(db, query),
  below: () => html`<p><a href="/console/backfills">Upload a report</a></p>`,
}))
