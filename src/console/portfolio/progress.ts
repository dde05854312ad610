import { html } from 'hono/html'
import type { MigrationRecord } from '../../portfolio/migration-record.ts'
import { facts } from '../frame/facts.ts'
import { fileFacts } from '../frame/file-facts.ts'
import { count, type Formats } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { migrationPath } from '../frame/paths.ts'

export function progressOf(migration: MigrationRecord, formats: Formats): Html {
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
