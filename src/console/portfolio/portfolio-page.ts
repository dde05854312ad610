import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { equalTo } from '../../database/equal-to.ts'
import { listMigrations } from '../../portfolio/find-migration.ts'
import { kinds } from '../../portfolio/kinds/kinds.ts'
import { MigrationStatus, MigrationTypeName } from '../../portfolio/migration-record.ts'
import { UPLOAD_LIMIT } from '../../portfolio/upload/take-upload.ts'
import { fileColumns } from '../frame/file-facts.ts'
import type { Html } from '../frame/html.ts'
import { migrationPath } from '../frame/paths.ts'
import { countUpTo } from '../lists/count.ts'
import { column, exportOnly, numberColumn, timeColumn } from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'

const filters = { type: Type.Optional(MigrationTypeName), status: Type.Optional(MigrationStatus) }

type Row = Awaited<ReturnType<typeof listMigrations>>['page'][number]

export const portfolioPage = listPage<typeof filters, Row>(({ db, formats }) => ({
  path: '/portfolio',
  title: 'Portfolio',
  filters,
  cursor: ['uuid'],
  empty: 'No file matches. Uploaded files and their runs appear here.',
  columns: [
    column(
      'migration_id',
      'File',
      row =>
        html`<a href="${migrationPath(row.migration_id)}">${row.file_name ?? 'without a name'}</a><br><small>${row.type}, ${formats.time(row.uploaded_at)}</small>`,
    ),
    ...fileColumns<Row>(migrationPath),
    column(
      'status',
      'Status',
      row => html`${row.status}${row.status === 'running' && row.is_dry_run ? ' (dry run)' : ''}`,
    ),
    numberColumn('rows', 'Rows'),
    numberColumn('valid_rows', 'Valid'),
    numberColumn('invalid_rows', 'Invalid'),
    numberColumn('done', 'Done'),
    numberColumn('failed', 'Failed'),
    numberColumn('stopped', 'Stopped'),
    timeColumn(formats, 'started_at', 'Began'),
    timeColumn(formats, 'ended_at', 'Ended'),
    ...exportOnly('file_name', 'type'),
    { ...timeColumn(formats, 'uploaded_at', 'Uploaded'), isExportOnly: true },
  ],
  load: query => listMigrations(db, query),
  count: filter => countUpTo(db, sql`select from ops.migration where ${equalTo(filter)}`),
  below: uploadForm,
}))

/** The type comes before the file, which is read as it arrives. */
function uploadForm(): Html {
  return html`<h2>Upload a file</h2>
<form class="box" method="post" action="/console/portfolio/upload" enctype="multipart/form-data" data-upload>
<label>Type <select name="type">${kinds.map(({ type }) => html`<option value="${type}">${type}</option>`)}</select></label>
<label>File <input type="file" name="file" accept=".csv,text/csv" required></label>
<p><small>CSV with a header row, at most ${UPLOAD_LIMIT.text}. Every row is checked; nothing is written to the ledger. Templates:
${kinds.map(({ type }) => html`<a href="/console/portfolio/templates/${type}.csv" download>${type}</a> `)}</small></p>
<progress hidden aria-label="Sent"></progress><p role="status"></p>
<button type="submit">Upload</button></form>`
}
