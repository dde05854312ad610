import { html } from 'hono/html'
import type { Role } from '../../accounts/account.ts'
import type { MigrationRecord } from '../../portfolio/migration-record.ts'
import { type Html, nothing } from '../frame/html.ts'
import { migrationPath } from '../frame/paths.ts'

export function migrationForms(migration: MigrationRecord, role: Role): Html {
  if (role === 'viewer') return nothing
  const { status, migration_id: id, done, failed, stopped } = migration
  const wasRun = done + failed + stopped > 0
  return html`<h2>Actions</h2><div class="forms">
${status === 'uploaded' || status === 'cancelled' ? runForm(migration) : nothing}
${status === 'running' ? form(id, 'cancel', 'Cancel', 'Starts nothing more. Rows that are in progress are completed.', 'Cancel run') : nothing}
${status === 'completed' || status === 'cancelled' ? form(id, 'retry', 'Retry', 'Processes the rows that failed, were stopped or are left.', 'Retry') : nothing}
${(status === 'uploaded' || status === 'cancelled') && !wasRun ? form(id, 'discard', 'Discard', 'Removes the file and its rows.', 'Discard') : nothing}
</div>`
}

function runForm({ migration_id: id, status, valid_rows, invalid_rows }: MigrationRecord): Html {
  return html`<form method="post" action="${migrationPath(id)}/run"><h3>Run</h3>
<p>${valid_rows} rows are valid, ${invalid_rows} are not.</p>
<label><input type="checkbox" name="skip_invalid" value="true"> skip invalid rows</label>
<p><small>A dry run only reads: it says what the run would do.</small></p>
<p class="bar">${status === 'uploaded' ? html`<button type="submit" class="secondary" formaction="${migrationPath(id)}/dry-run">Dry run</button>` : nothing}
<button type="submit">Run</button></p></form>`
}

function form(id: string, verb: string, title: string, what: string, label: string): Html {
  return html`<form method="post" action="${migrationPath(id)}/${verb}"><h3>${title}</h3>
<p>${what}</p><button type="submit" class="secondary">${label}</button></form>`
}
