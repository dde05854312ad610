import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Row } from '../../database/row.ts'
import type { MigrationRecord } from '../../portfolio/migration-record.ts'
import { count, ofAll } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { migrationPath } from '../frame/paths.ts'
import { column, idColumn, numberColumn } from '../lists/columns.ts'
import { MAX_COUNTED } from '../lists/count.ts'
import { firstOf } from '../lists/first-of.ts'
import { loanColumn } from '../lists/payment-columns.ts'
import { table } from '../lists/table.ts'

const MAX_ROWS_SHOWN = 100
const MAX_REASONS = 8

type BadRow = Row<'loanops.migration_row', 'line' | 'state' | 'reason'> & {
  external_loan_id: string | null
}

/** Only the first bad rows, which are enough to group by reason. */
export async function findBadRows(db: Database, id: string): Promise<BadRow[]> {
  const { rows } = await sql<BadRow>`
    select line, loan_external_id as external_loan_id, state, reason from loanops.migration_row
     where migration_id = ${id} and state in ('invalid', 'failed', 'stopped')
     order by line limit ${MAX_COUNTED}`.execute(db)
  return rows
}

export function badRows(migration: MigrationRecord, rows: BadRow[]): Html {
  if (rows.length === 0) return nothing
  const { migration_id: id, invalid_rows, failed, stopped } = migration
  const shown = rows.slice(0, MAX_ROWS_SHOWN)
  const groups = [...Map.groupBy(rows, row => row.reason ?? '')]
    .map(([reason, of]) => ({ reason, rows: of.length }))
    .sort((a, b) => b.rows - a.rows)
  const reasons = firstOf(groups, MAX_REASONS)
  const columns = [
    numberColumn('line', 'Line'),
    column('state', 'State'),
    loanColumn,
    idColumn('reason', 'Reason'),
  ]
  return html`<h2>Rows with errors</h2>
<p class="bar"><a href="${migrationPath(id)}/errors.csv" download>Rows with errors as CSV</a><span>all of them, each with its reason, to be corrected and uploaded again</span></p>
<dl class="figures box">${reasons.shown.map(group => html`<dt>${group.reason}</dt><dd>${count(group.rows)}${rows.length === MAX_COUNTED ? '+' : ''}</dd>`)}</dl>${reasons.rest}
<p>${ofAll(shown.length, invalid_rows + failed + stopped)} rows with errors are shown.</p>
${table(columns, shown, 'Rows with errors')}`
}
