import { html } from 'hono/html'
import type { Role } from '../../accounts/account.ts'
import type { MigrationRecord } from '../../portfolio/migration-record.ts'
import { count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { migrationPath } from '../frame/paths.ts'

export function migrationForms(migration: MigrationRecord, role: Role): Html {
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
