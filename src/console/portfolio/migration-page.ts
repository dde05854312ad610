import { html } from 'hono/html'
import { sql } from 'kysely'
import { toRead } from '../../accounts/access/needs.ts'
import type { Role } from '../../accounts/account.ts'
import type { Database, Row } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { findMigration } from '../../portfolio/find-migration.ts'
import {
  type DryRun,
  type MigrationRecord,
  ofOneMigration,
} from '../../portfolio/migration-record.ts'
import { actionsOn } from '../audit/actions-on.ts'
import { answerPage } from '../frame/answer.ts'
import { fileFacts } from '../frame/file-facts.ts'
import { count, type Formats, ofAll } from '../frame/formats.ts'
import { facts, type Html, nothing } from '../frame/html.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice } from '../frame/notice.ts'
import { migrationPath } from '../frame/paths.ts'
import { MAX_COUNTED } from '../lists/count.ts'
import { column, idColumn, loanColumn, numberColumn } from '../lists/list.ts'
import { firstOf, table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'

const schema = { params: ofOneMigration, querystring: only(liveQuery) }

export function migrationPage(app: App, { db, formats }: PageContext): void {
  app.get('/portfolio/:id', toRead(schema), async (request, reply) => {
    const { id } = request.params
    const migration = await findMigration(db, id)
    const [bad, actions] = await Promise.all([findBadRows(db, id), actionsOn(db, id, formats)])
    const body = html`<h1>Portfolio of ${migration.type}</h1>
${doneNotice(request.query.done)}
${live(
  request.url,
  // A refresh includes the forms, because they depend on the state; a running file has no box to tick.
  migration.status === 'running' ? request.query : { refresh: 'off' },
  html`${progressOf(migration, formats)}${migration.status === 'running' ? html`<p class="bar">${refreshLink(request.url)}</p>` : ''}
${migrationForms(migration, request.user.role)}
${findingsLink(migration)}${dryRunFindings(migration.dry_run)}
${badRows(migration, bad)}${actions}`,
)}`
    return answerPage(request, reply, { title: `Portfolio of ${migration.type} ${id}`, body })
  })
}

function findingsLink({ migration_id: id, ...migration }: MigrationRecord): Html {
  const { invalid_rows, failed, stopped, dry_run } = migration
  const found = dry_run === null ? 0 : dry_run.differs + dry_run.refused + dry_run.unknown
  if (invalid_rows + failed + stopped + found === 0) return nothing
  return html`<p class="bar"><a href="${migrationPath(id)}/findings.csv" download>All findings as CSV</a><span>what the upload, the dry run and the run found wrong, line by line</span></p>`
}

function progressOf(migration: MigrationRecord, formats: Formats): Html {
  const { status, is_dry_run, valid_rows, done, failed, stopped, looked_at } = migration
  const ended = is_dry_run ? looked_at : done + failed + stopped
  const isRunning = status === 'running'
  const what = is_dry_run ? 'Checked by the dry run' : 'Rows finished'
  return html`${
    isRunning || ended > 0
      ? html`<label>${what}: ${count(ended)} of ${count(valid_rows)} <progress value="${ended}" max="${Math.max(valid_rows, 1)}"></progress></label>`
      : nothing
  }
${facts([
  ...fileFacts(migration, migrationPath),
  ['Status', isRunning && is_dry_run ? 'dry run in progress' : status],
  ['Rows', count(migration.rows)],
  ['Valid', count(valid_rows)],
  ['Invalid', count(migration.invalid_rows)],
  ['Done', count(done)],
  ['Failed', count(failed)],
  [
    'Stopped',
    stopped === 0 ? null : html`${count(stopped)}, because an earlier row of the same loan failed`,
  ],
  ['Rows per second', ended === 0 && !isRunning ? null : migration.rate_per_second],
  ['Estimated end', formats.time(migration.estimated_end_at)],
  ['Uploaded', formats.time(migration.uploaded_at)],
  ['Began', formats.time(migration.started_at)],
  ['Ended', formats.time(migration.ended_at)],
  ['Migration id', migration.migration_id],
])}`
}

function migrationForms(migration: MigrationRecord, role: Role): Html {
  if (role === 'viewer') return nothing
  const { status, migration_id: id, done, failed, stopped } = migration
  const wasRun = done + failed + stopped > 0
  return html`<h2>Actions</h2><div class="forms">
${status === 'uploaded' || status === 'cancelled' ? runForm(migration) : nothing}
${status === 'running' ? form(id, 'cancel', 'Takes back the rows that left nothing at the ledger. The others are completed.') : nothing}
${status === 'completed' || status === 'cancelled' ? form(id, 'retry', 'Processes the rows that failed, were stopped or remain.') : nothing}
${(status === 'uploaded' || status === 'cancelled') && !wasRun ? form(id, 'discard', 'Removes the file and its rows.') : nothing}
</div>`
}

function runForm({ migration_id: id, status, valid_rows, invalid_rows }: MigrationRecord): Html {
  return html`<form method="post" action="${migrationPath(id)}/run"><h3>Run</h3>
<p>Valid rows: ${count(valid_rows)}; invalid rows: ${count(invalid_rows)}.</p>
<label><input type="checkbox" name="skip_invalid" value="true"> skip invalid rows</label>
<p><small>A dry run only reads: it says what the run would do.</small></p>
<p class="bar">${status === 'uploaded' ? html`<button type="submit" class="secondary" formaction="${migrationPath(id)}/dry-run">Dry run</button>` : nothing}
<button type="submit">Run</button></p></form>`
}

const TITLES = { cancel: 'Cancel', retry: 'Retry', discard: 'Discard' }
const LABELS = { ...TITLES, cancel: 'Cancel run' }

function form(id: string, verb: keyof typeof TITLES, what: string): Html {
  return html`<form method="post" action="${migrationPath(id)}/${verb}"><h3>${TITLES[verb]}</h3>
<p>${what}</p><button type="submit" class="secondary">${LABELS[verb]}</button></form>`
}

function dryRunFindings(dryRun: DryRun | null): Html {
  if (dryRun === null) return nothing
  const { findings, would_change, in_ledger, differs, refused, unknown } = dryRun
  const columns = [
    numberColumn('line', 'Line'),
    idColumn('external_loan_id', 'Loan'),
    column('finding', 'Finding'),
    idColumn('reason', 'Reason'),
  ]
  return html`<h2>What the dry run found</h2>
<dl class="figures box">
<dt>would be written</dt><dd>${count(would_change)}</dd>
<dt>already at the ledger</dt><dd>${count(in_ledger)}</dd>
<dt>differ at the ledger</dt><dd>${count(differs)}</dd>
<dt>would be refused</dt><dd>${count(refused)}</dd>
<dt>could not be read</dt><dd>${count(unknown)}</dd>
</dl>
${
  findings.length === 0
    ? html`<p class="good">No row differs or would be refused.</p>`
    : html`<p>${ofAll(findings.length, differs + refused + unknown)} findings are shown.</p>
${table(columns, findings, 'Findings of the dry run')}`
}`
}

const MAX_ROWS_SHOWN = 100
const MAX_REASONS = 8

type BadRow = Row<'loanops.migration_row', 'line' | 'state' | 'reason'> & {
  external_loan_id: string | null
}

/** Only the first bad rows, which are enough to group by reason. */
async function findBadRows(db: Database, id: string): Promise<BadRow[]> {
  const { rows } = await sql<BadRow>`
    select line, loan_external_id as external_loan_id, state, reason from loanops.migration_row
     where migration_id = ${id} and state in ('invalid', 'failed', 'stopped')
     order by line limit ${MAX_COUNTED}`.execute(db)
  return rows
}

function badRows(migration: MigrationRecord, rows: BadRow[]): Html {
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
